-- [claim.next-due] [claim.look-back] By one look at the head of an index for each queue and kind. $1 queues, $2 kinds;
-- $3 to $5 where to begin in each queue, as in claim_jobs; $6 how long until a claim looks back, or null.
select least(min(head.at), clock_timestamp() + $6::text::interval)
from
    unnest(
        $1::text::text[], $3::text::timestamptz[], $4::text::bigint[], $5::text::timestamptz[]
    ) as line (queue, due_at, id, lease_until)
    cross join unnest($2::text::text[]) as wanted (kind)
    cross join lateral (
        (
            select job.due_at as at
            from {schema}.jobs as job
            where
                job.queue = line.queue
                and job.kind = wanted.kind
                and job.due_at is not null
                and (job.due_at, job.id) > (line.due_at, line.id)
            order by job.due_at, job.id
            limit 1
        )
        union all
        (
            select job.lease_until as at
            from {schema}.jobs as job
            where job.queue = line.queue and job.kind = wanted.kind and job.lease_until >= line.lease_until
            order by job.lease_until, job.id
            limit 1
        )
    ) as head
where not exists (select from {schema}.paused_queues as paused where paused.queue = line.queue)
