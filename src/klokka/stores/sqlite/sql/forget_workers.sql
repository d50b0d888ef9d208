-- [fleet.beat] Those that have not been live for a day. The table has a row for each worker, so a scan is a short one.
delete from klokka_workers
where live_until < ?1
