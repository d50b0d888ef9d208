-- [schedule.due] [schedule.crash] $1 ids, $2 limit, $3 lease, $4 worker. Few rows and all of them by key, so that
-- sorting them costs nothing.
with tick as materialized (
    select clock_timestamp() as now
),
due as materialized (
    select schedule.id
    from tick cross join {schema}.schedules as schedule
    where
        schedule.id = any($1::text::text[])
        and schedule.paused is null
        and schedule.next_fire_at <= tick.now
        and (schedule.lease_until is null or schedule.lease_until <= tick.now)
    order by schedule.next_fire_at, schedule.id
    limit $2::text::bigint
    for update of schedule skip locked
)
update {schema}.schedules as schedule
set
    lease_until = tick.now + $3::text::interval,
    holder = $4::text,
    fence = schedule.fence + 1
from tick
where schedule.id = any(array(select id from due))
returning schedule.id, schedule.fingerprint, schedule.next_fire_at, tick.now, schedule.fence
