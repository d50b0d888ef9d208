-- [lease.one] Ended at its very beginning and not only now: a clock that steps back must not revive it.
update klokka_leases
set lease_until = -9223372036854775808
where name = ?1 and owner = ?2 and lease_until > ?3
