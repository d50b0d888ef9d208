-- [claim.exclusive] [claim.due] [claim.expired] [claim.queue-order] [claim.order] [claim.kinds] [claim.caps]
-- [claim.attempt] [claim.lapses] [claim.fence] [claim.lease] [claim.look-back] [fleet.pause] [progress.held]
-- $1 queues, $2 caps by position, $3 kinds, $4 limit, $5 lease, $6 worker. The first row has the ids in their order:
-- a client orders rows for less than a join costs where it goes wrong. It is there without a job too.
-- $7 to $9 are where to begin in each queue: behind a due time and id, and at the end of a lease. The server counts what
-- is read of both indexes, dead entries too; where it is more than $10, the first row also tells when the statement began
-- and ended and which due time each job had.
-- Candidates are the heads of each queue's kinds, read from their index in its order and not locked: other kinds in
-- front cost nothing. Merged, they are locked one by one until there are enough, passing over those that another
-- call holds; where those are so many that too few are left, a second pass reads further. All of it runs lazily from
-- left to right, so that neither a second pass nor a queue behind the limit is looked at in vain.
-- Every look at the table is a subquery that cannot be joined in another way, and `coalesce` keeps the partial indexes
-- out where a row is looked up by id: a plan made while the table is empty serves until the next analyze.
with tick as materialized (
    select
        clock_timestamp() as now, array_agg(index) as indexes, sum(pg_stat_get_xact_tuples_returned(index)) as read
    from unnest(array[to_regclass({due}), to_regclass({leased})]) as index
),
picked as materialized (
    select job.id, job.due_at
    from
        tick
        cross join (
            select given.*, least(given.cap, $4::text::bigint) as room
            from
                unnest(
                    $1::text::text[], $2::text::bigint[],
                    $7::text::timestamptz[], $8::text::bigint[], $9::text::timestamptz[]
                ) as given (queue, cap, due_at, id, lease_until)
        ) as line
        cross join lateral (
            select chosen.id, chosen.due_at
            from (
                select held.id, null::timestamptz as due_at
                from
                    (
                        select head.id, head.at
                        from
                            unnest($3::text::text[]) as wanted (kind)
                            cross join lateral (
                                select job.id, job.lease_until as at
                                from {schema}.jobs as job
                                where
                                    job.queue = line.queue
                                    and job.kind = wanted.kind
                                    and job.lease_until >= line.lease_until
                                    and job.lease_until <= tick.now
                                order by job.lease_until, job.id
                                limit line.room
                            ) as head
                        order by head.at, head.id
                    ) as candidate
                    cross join lateral (
                        select job.id
                        from {schema}.jobs as job
                        where job.id = candidate.id and coalesce(job.due_at, job.lease_until) <= tick.now
                        for update skip locked
                    ) as held
                union all
                select held.id, candidate.at
                from
                    (values (0::bigint, line.room), (line.room, 10 * line.room)) as pass (behind, ahead)
                    cross join lateral (
                        select head.id, head.at
                        from
                            unnest($3::text::text[]) as wanted (kind)
                            cross join lateral (
                                select job.id, job.due_at as at
                                from {schema}.jobs as job
                                where
                                    job.queue = line.queue
                                    and job.kind = wanted.kind
                                    and (job.due_at, job.id) > (line.due_at, line.id)
                                    and job.due_at <= tick.now
                                order by job.due_at, job.id
                                limit pass.behind + pass.ahead
                            ) as head
                        order by head.at, head.id
                        limit pass.ahead
                        offset pass.behind
                    ) as candidate
                    cross join lateral (
                        select job.id
                        from {schema}.jobs as job
                        where job.id = candidate.id and coalesce(job.due_at, job.lease_until) <= tick.now
                        for update skip locked
                    ) as held
            ) as chosen
            limit line.room
        ) as job
    where not exists (select from {schema}.paused_queues as paused where paused.queue = line.queue)
    limit $4::text::bigint
),
chosen as materialized (
    select array(select id from picked) as ids
),
taken as (
    update {schema}.jobs
    set
        status = 'running',
        attempt = attempt + 1,
        lapses = lapses + (lease_until is not null)::integer,
        fence = fence + 1,
        due_at = null,
        lease_until = (select now from tick) + $5::text::interval,
        holder = $6::text,
        progress = null
    where id = any((select ids from chosen)::bigint[])
    returning
        id, kind, payload, payload_version, queue, attempt, lapses, enqueued_at, scheduled_for, lease_until, fence,
        unique_key, schedule_id, headers
)
select
    taken.*,
    case when row_number() over () = 1 then (select ids from chosen) end as ids,
    case when row_number() over () = 1 then (
        select array[tick.now, clock_timestamp()] || array(select due_at from picked)
        from tick
        where
            (
                select sum(pg_stat_get_xact_tuples_returned(index))
                from unnest(tick.indexes) as index
            ) > tick.read + $10::text::bigint
    ) end as told
from (values (true)) as always left join taken on true
