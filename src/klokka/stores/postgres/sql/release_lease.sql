-- [lease.one] Ended at its very beginning and not only now: a clock that steps back must not revive it.
-- $1 name, $2 owner.
update {schema}.leases
set lease_until = '-infinity'
where name = $1::text and owner = $2::text and lease_until > clock_timestamp()
returning name
