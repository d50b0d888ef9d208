-- [time.store-clock] The time of the statement; now() would be the start of its transaction.
select clock_timestamp()
