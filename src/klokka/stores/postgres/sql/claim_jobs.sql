-- [claim.exclusive] [claim.due] [claim.expired] [claim.queue-order] [claim.order] [claim.kinds] [claim.caps]
-- [claim.attempt] [claim.lapses] [claim.fence] [claim.lease] [fleet.pause] [progress.held]
-- $1 queues, $2 caps by position, $3 kinds, $4 limit, $5 lease, $6 worker.
-- Candidates are the heads of each queue's kinds, read from their index in its order and not locked: other kinds in
-- front cost nothing. Merged, they are locked one by one until there are enough, passing over those that another
-- call holds; queues after the limit is reached are not looked at, since the joins run lazily from left to right.
-- What is locked is updated by `= any(array(…))`: a join here is one that a planner with wrong numbers turns into
-- a scan of the table. By id and not by ctid: a row version newer than the snapshot would not be found by ctid.
with tick as materialized (
    select clock_timestamp() as now
),
picked as materialized (
    select line.place, job.id, job.ended, job.at
    from
        tick
        cross join unnest($1::text::text[], $2::text::bigint[]) with ordinality as line (queue, cap, place)
        cross join lateral (
            select chosen.id, chosen.ended, chosen.at
            from (
                select expired.id, true as ended, expired.at
                from (
                    select held.id, candidate.at
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
                                        and job.lease_until <= tick.now
                                    order by job.lease_until, job.id
                                    limit least(line.cap, $4::text::bigint)
                                ) as head
                            order by head.at, head.id
                        ) as candidate
                        inner join {schema}.jobs as held on held.id = candidate.id
                    where held.lease_until <= tick.now
                    order by candidate.at, candidate.id
                    limit least(line.cap, $4::text::bigint)
                    for update of held skip locked
                ) as expired
                union all
                select waiting.id, false as ended, waiting.at
                from (
                    select held.id, candidate.at
                    from
                        (
                            select head.id, head.at
                            from
                                unnest($3::text::text[]) as wanted (kind)
                                cross join lateral (
                                    select job.id, job.due_at as at
                                    from {schema}.jobs as job
                                    where
                                        job.queue = line.queue
                                        and job.kind = wanted.kind
                                        and job.due_at <= tick.now
                                    order by job.due_at, job.id
                                    limit least(line.cap, $4::text::bigint)
                                ) as head
                            order by head.at, head.id
                        ) as candidate
                        inner join {schema}.jobs as held on held.id = candidate.id
                    where held.due_at <= tick.now
                    order by candidate.at, candidate.id
                    limit least(line.cap, $4::text::bigint)
                    for update of held skip locked
                ) as waiting
            ) as chosen
            limit least(line.cap, $4::text::bigint)
        ) as job
    where not exists (select from {schema}.paused_queues as paused where paused.queue = line.queue)
    limit $4::text::bigint
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
    where id = any(array(select id from picked))
    returning
        id, kind, payload, payload_version, queue, attempt, lapses, enqueued_at, scheduled_for, lease_until, fence,
        unique_key, schedule_id, headers
)
select taken.*
from picked inner join taken on taken.id = picked.id
order by picked.place, picked.ended desc, picked.at, picked.id
