-- [enqueue.unique] [enqueue.unique-batch] [enqueue.unique-race] [enqueue.unique-life] [life.deadlock] [wakeups.commit]
-- Like enqueue_jobs, where at least one job has a unique key. Apart from it, since a row that may meet a conflict
-- costs up to a fifth more. $1: a JSON array of the jobs.
-- Rows go in by key, so that two calls never wait for each other. A conflict waits until the holder is decided; if it
-- then is newer than this statement's snapshot, unseen_holder ends the statement, to be repeated whole.
-- To the server the bound is of each wait. So once an eighth of it is gone, what is left is set before each row goes in;
-- the condition stands there for that, and is always true [enqueue.bounded].
with tick as materialized (
    select clock_timestamp() as now
),
given as materialized (
    select nextval({ids}) as id, tick.now, coalesce(job.run_at, tick.now + job.wait, tick.now) as plan, job.*
    from
        tick
        cross join rows from (
            json_to_recordset($1::text::json) as (
                kind text, queue text, payload text, payload_version integer, run_at timestamptz, wait interval,
                unique_key text, schedule_id text, headers text
            )
        ) with ordinality as job (
            kind, queue, payload, payload_version, run_at, wait, unique_key, schedule_id, headers, place
        )
),
patience as materialized (
    select nullif(current_setting('lock_timeout')::interval, interval '0') as bound
),
firsts as (
    select given.*
    from given
    where unique_key is null
    union all
    (
        select distinct on (unique_key collate "C") given.*
        from given
        where unique_key is not null
        order by unique_key collate "C", place
    )
),
stored as (
    insert into {schema}.jobs (
        id, status, queue, kind, payload, payload_version, unique_key, schedule_id, headers,
        enqueued_at, scheduled_for, run_at, due_at
    )
    overriding system value
    select
        id, case when plan <= now then 'enqueued' else 'scheduled' end, queue, kind, payload, payload_version,
        unique_key, schedule_id, headers, now, plan, plan, plan
    from (select firsts.* from firsts order by unique_key collate "C", place) as next
    where
        case
            when unique_key is null then true
            when coalesce(clock_timestamp() - statement_timestamp() < (select bound / 8 from patience), true) then true
            else set_config(
                'lock_timeout',
                greatest(1, ceil(extract(
                    epoch from statement_timestamp() + (select bound from patience) - clock_timestamp()
                ) * 1000))::bigint || 'ms',
                true
            ) is not null
        end
    on conflict (unique_key) where unique_key is not null and terminal_at is null do nothing
    returning id, unique_key, due_at - enqueued_at as wait
)
select
    coalesce(own.id, twin.id, holder.id, {schema}.unseen_holder(given.unique_key)) as id,
    own.id is not null as created,
    (select pg_notify({channel}, '')::text from stored where wait <= {sleep} limit 1) as rung
from
    given
    left join stored as own on own.id = given.id
    left join stored as twin on twin.unique_key = given.unique_key collate "C"
    left join lateral (
        select job.id
        from {schema}.jobs as job
        where job.unique_key = given.unique_key and job.terminal_at is null and own.id is null and twin.id is null
        limit 1 -- what is limited is looked up row by row, and never read whole
    ) as holder on true
order by given.place
