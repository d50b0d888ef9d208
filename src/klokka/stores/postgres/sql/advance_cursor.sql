-- [lease.cursor] Forward only, and only under the current fence of an unexpired lease. The lease's row is locked, so
-- that nobody takes the lease over before this commits. $1 name, $2 to, $3 lease, $4 fence.
with held as materialized (
    select lease.name
    from {schema}.leases as lease
    where
        lease.name = $3::text
        and lease.fence = $4::text::bigint
        and lease.lease_until > clock_timestamp()
    for share
)
insert into {schema}.cursors as cursor (name, stands_at)
select $1::text, $2::text::timestamptz
from held
on conflict (name) do update
set stands_at = excluded.stands_at
where excluded.stands_at > cursor.stands_at
returning name
