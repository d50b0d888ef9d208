-- [transition.cas] [transition.fence] [transition.times] [transition.error] [transition.refund] [transition.restart]
-- [batch.each] $1: a JSON object of changes by id. Looked up there row by row, and not joined: see settle_jobs.
-- due_at is the time of every waiting state, so that it is what a time in `from_` is compared to.
with given as materialized (
    select changes.it as changes, array(select jsonb_object_keys(changes.it)::bigint) as ids, clock_timestamp() as now
    from (select $1::text::jsonb as it) as changes
),
applied as (
    update {schema}.jobs as job
    set lease_until = null, holder = null, progress = null, (
        status, due_at, run_at, terminal_at, attempt, lapses,
        error_type, error_message, error_traceback, error_attempt, error_at
    ) = (
        select
            change.status,
            case when change.waits then plan.at end,
            case when change.waits and change.status <> 'failed' then plan.at else job.run_at end,
            case when not change.waits then given.now end,
            case when change.waits and job.terminal_at is not null then 0 else job.attempt - change.refund end,
            case when change.waits and job.terminal_at is not null then 0 else job.lapses end,
            coalesce(change.error_type, job.error_type),
            coalesce(change.error_message, job.error_message),
            coalesce(change.error_traceback, job.error_traceback),
            case
                when change.error_type is null then job.error_attempt
                else coalesce(change.error_attempt, job.attempt)
            end,
            case when change.error_type is null then job.error_at else coalesce(change.error_at, given.now) end
        from
            given
            cross join jsonb_to_record(given.changes -> job.id::text) as change (
                status text, waits boolean, at timestamptz, wait interval, refund integer,
                error_type text, error_message text, error_traceback text, error_attempt integer, error_at timestamptz
            )
            cross join lateral (select coalesce(change.at, given.now + change.wait, given.now) as at) as plan
    )
    where
        job.id = any((select ids from given)::bigint[])
        and job.status = (select changes from given) #>> array[job.id::text, 'from_status']
        and coalesce(
            job.fence = ((select changes from given) #>> array[job.id::text, 'fence'])::bigint, true
        )
        and coalesce(
            job.due_at = ((select changes from given) #>> array[job.id::text, 'from_time'])::timestamptz,
            (select changes from given) #>> array[job.id::text, 'from_time'] is null
        )
    returning job.id, job.due_at
)
select
    id,
    (
        select pg_notify({channel}, '')::text
        from applied
        where due_at <= (select now from given) + {sleep}
        limit 1
    ) as rung
from applied
