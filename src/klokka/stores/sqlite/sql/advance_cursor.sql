-- [lease.cursor] Forward only, and only under the current fence of an unexpired lease. The select gives a row to
-- insert only while the lease stands.
insert into klokka_cursors (name, stands_at)
select ?1, ?2
from klokka_leases
where name = ?3 and fence = ?4 and lease_until > ?5
on conflict (name) do update
set stands_at = excluded.stands_at
where excluded.stands_at > stands_at
