-- [fleet.beat]
select
    id, host, pid, version, queues, kinds, schedules, slots, busy, started_at, last_beat,
    live_until > clock_timestamp() as live
from {schema}.workers
order by live desc, last_beat desc, id
