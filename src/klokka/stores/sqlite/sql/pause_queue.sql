-- [fleet.pause]
insert into klokka_paused_queues (queue, reason)
values (?1, ?2)
on conflict (queue) do update
set reason = excluded.reason
