-- [claim.look-back] What waits behind the places at which claims begin, each kind's first job and first ended lease; and how
-- many entries were read to find it, and in what time. $1 queues, $2 kinds, $3 to $5 the places as in claim_jobs.
with tick as materialized (
    select
        clock_timestamp() as now, array_agg(index) as indexes, sum(pg_stat_get_xact_tuples_returned(index)) as read
    from unnest(array[to_regclass({due}), to_regclass({leased})]) as index
),
found as materialized (
    select
        array_agg(line.place) as places, array_agg(waiting.due_at) as due, array_agg(waiting.id) as ids,
        array_agg(leased.lease_until) as ends
    from
        tick
        cross join unnest(
            $1::text::text[], $3::text::timestamptz[], $4::text::bigint[], $5::text::timestamptz[]
        ) with ordinality as line (queue, due_at, id, lease_until, place)
        cross join unnest($2::text::text[]) as wanted (kind)
        left join lateral (
            select job.due_at, job.id
            from {schema}.jobs as job
            where
                job.queue = line.queue
                and job.kind = wanted.kind
                and job.due_at is not null
                and (job.due_at, job.id) <= (line.due_at, line.id)
            order by job.due_at, job.id
            limit 1
        ) as waiting on true
        left join lateral (
            select job.lease_until
            from {schema}.jobs as job
            where job.queue = line.queue and job.kind = wanted.kind and job.lease_until < line.lease_until
            order by job.lease_until, job.id
            limit 1
        ) as leased on true
    where
        (waiting.id is not null or leased.lease_until is not null)
        and not exists (select from {schema}.paused_queues as paused where paused.queue = line.queue)
)
select
    (select sum(pg_stat_get_xact_tuples_returned(index)) from unnest(tick.indexes) as index) - tick.read,
    clock_timestamp() - tick.now,
    found.*
from tick cross join found
