-- [lease.one] The owner's own call during the lease renews it; any after the end takes a higher fence.
insert into klokka_leases (name, owner, lease_until, fence)
values (?1, ?2, ?3, 1)
on conflict (name) do update
set
    owner = excluded.owner,
    lease_until = excluded.lease_until,
    fence = case when lease_until > ?4 then fence else fence + 1 end
where owner = excluded.owner or lease_until <= ?4
returning fence
