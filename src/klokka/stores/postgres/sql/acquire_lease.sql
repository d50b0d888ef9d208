-- [lease.one] The owner's own call during the lease renews it; any after the end takes a higher fence.
-- $1 name, $2 owner, $3 ttl. The clock is read again when a lock had to be waited for.
insert into {schema}.leases as lease (name, owner, lease_until, fence)
values ($1::text, $2::text, clock_timestamp() + $3::text::interval, 1)
on conflict (name) do update
set
    owner = excluded.owner,
    lease_until = clock_timestamp() + $3::text::interval,
    fence = case when lease.lease_until > clock_timestamp() then lease.fence else lease.fence + 1 end
where lease.owner = excluded.owner or lease.lease_until <= clock_timestamp()
returning fence
