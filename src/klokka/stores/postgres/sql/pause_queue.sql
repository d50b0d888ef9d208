-- [fleet.pause] $1 queue, $2 reason.
insert into {schema}.paused_queues (queue, reason)
values ($1::text, $2::text)
on conflict (queue) do update
set reason = excluded.reason
