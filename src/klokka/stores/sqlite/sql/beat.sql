-- [fleet.beat]
insert into klokka_workers (
    id, host, pid, version, queues, kinds, schedules, slots, busy, started_at, last_beat, live_until
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11)
on conflict (id) do update
set
    host = excluded.host,
    pid = excluded.pid,
    version = excluded.version,
    queues = excluded.queues,
    kinds = excluded.kinds,
    schedules = excluded.schedules,
    slots = excluded.slots,
    busy = excluded.busy,
    last_beat = excluded.last_beat,
    live_until = excluded.live_until
