-- [sweep.retention] [sweep.bounded] $1 states, $2 how long each is kept, $3 limit.
-- Locked before they are deleted, passing over what others hold, so that a job reopened meanwhile stays.
with tick as materialized (
    select clock_timestamp() as now
),
kept as materialized (
    select policy.status, tick.now - policy.age as since
    from tick cross join unnest($1::text::text[], $2::text::interval[]) as policy (status, age)
),
old_jobs as materialized (
    select old.id
    from
        kept
        cross join lateral (
            select job.id
            from {schema}.jobs as job
            where job.status = kept.status and job.terminal_at < kept.since
            order by job.terminal_at
            limit $3::text::bigint
            for update skip locked
        ) as old
    limit $3::text::bigint
),
old_keys as materialized (
    select record.ctid as place
    from {schema}.idempotency_keys as record
    where record.expires_at <= (select now from tick)
    order by record.expires_at
    limit $3::text::bigint
    for update skip locked
),
swept_jobs as (
    delete from {schema}.jobs
    where id = any(array(select id from old_jobs))
    returning 1
),
swept_keys as (
    delete from {schema}.idempotency_keys
    where ctid = any(array(select place from old_keys))
    returning 1
)
select
    (select count(*) from swept_jobs),
    (select count(*) from swept_keys),
    (
        select count(*) > $3::text::bigint
        from (
            select
            from
                kept
                cross join lateral (
                    select
                    from {schema}.jobs as job
                    where job.status = kept.status and job.terminal_at < kept.since
                    order by job.terminal_at
                    limit $3::text::bigint + 1
                ) as old
            limit $3::text::bigint + 1
        ) as seen
    )
    or (
        select count(*) > $3::text::bigint
        from (
            select
            from {schema}.idempotency_keys as record
            where record.expires_at <= (select now from tick)
            limit $3::text::bigint + 1
        ) as seen
    )
