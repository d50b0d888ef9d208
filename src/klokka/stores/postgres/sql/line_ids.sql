-- The same of all jobs, however rare, by the partial indexes: of what has ended the newest of each queue and kind, which
-- are found by one look each; of what waits or runs all, since those indexes are in the order of time. $1 limit,
-- $2 offset, $3 the id below which to look. Each `true` is replaced as in list_jobs, or by `false`.
with recursive line as (
    (
        select job.queue, job.kind
        from {schema}.jobs as job
        where job.terminal_at is not null
        order by job.queue, job.kind
        limit 1
    )
    union all
    select further.queue, further.kind
    from
        line
        cross join lateral (
            select job.queue, job.kind
            from {schema}.jobs as job
            where job.terminal_at is not null and (job.queue, job.kind) > (line.queue, line.kind)
            order by job.queue, job.kind
            limit 1
        ) as further
)
select found.id
from (
    select ended.id
    from
        line
        cross join lateral (
            select id
            from {schema}.jobs
            where
                queue = line.queue
                and kind = line.kind
                and id < $3::text::bigint
                and terminal_at is not null and true
            order by id desc
            limit $1::text::bigint + $2::text::bigint
        ) as ended
    union all
    select id
    from {schema}.jobs
    where id < $3::text::bigint and due_at is not null and true
    union all
    select id
    from {schema}.jobs
    where id < $3::text::bigint and lease_until is not null and true
) as found
order by found.id desc
limit $1::text::bigint + $2::text::bigint
