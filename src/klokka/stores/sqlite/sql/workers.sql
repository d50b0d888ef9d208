-- [fleet.beat]
select
    id, host, pid, version, queues, kinds, schedules, slots, busy, started_at, last_beat, live_until > ?1 as live
from klokka_workers
order by live desc, last_beat desc, id
