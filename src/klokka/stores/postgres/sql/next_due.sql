-- [claim.next-due] By one look at the head of an index for each queue and kind. $1 queues, $2 kinds.
select min(head.at)
from
    unnest($1::text::text[]) as line (queue)
    cross join unnest($2::text::text[]) as wanted (kind)
    cross join lateral (
        (
            select job.due_at as at
            from {schema}.jobs as job
            where job.queue = line.queue and job.kind = wanted.kind and job.due_at is not null
            order by job.due_at, job.id
            limit 1
        )
        union all
        (
            select job.lease_until as at
            from {schema}.jobs as job
            where job.queue = line.queue and job.kind = wanted.kind and job.lease_until is not null
            order by job.lease_until, job.id
            limit 1
        )
    ) as head
where not exists (select from {schema}.paused_queues as paused where paused.queue = line.queue)
