-- [fleet.beat] With each beat, workers that have not been live for a day are forgotten; the table has a row for each
-- worker, so a scan is a short one. $1 id, $2 host, $3 pid, $4 version, $5 queues, $6 kinds, $7 schedules, $8 slots,
-- $9 busy, $10 how long it is live.
with tick as materialized (
    select clock_timestamp() as now
),
gone as (
    select worker.id
    from tick cross join {schema}.workers as worker
    where worker.live_until < tick.now - interval '24 hours' and worker.id <> $1::text
    for update of worker skip locked
),
forgotten as (
    delete from {schema}.workers
    where id = any(array(select id from gone))
)
insert into {schema}.workers (
    id, host, pid, version, queues, kinds, schedules, slots, busy, started_at, last_beat, live_until
)
select
    $1::text, $2::text, $3::text::bigint, $4::text, $5::text::text[], $6::text::text[], $7::text::text[],
    $8::text::bigint, $9::text::bigint, now, now, now + $10::text::interval
from tick
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
