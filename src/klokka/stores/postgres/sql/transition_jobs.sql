-- [transition.cas] [transition.fence] [transition.times] [transition.error] [transition.refund] [transition.restart]
-- [batch.each] $1: a JSON array of changes with distinct ids in rising order.
-- due_at is the time of every waiting state, so that it is what a time in `from_` is compared to.
with tick as materialized (
    select clock_timestamp() as now
),
applied as (
    update {schema}.jobs as job
    set
        status = change.status,
        due_at = case when change.waits then coalesce(change.at, tick.now + change.wait, tick.now) end,
        run_at = case
            when change.waits and change.status <> 'failed' then coalesce(change.at, tick.now + change.wait, tick.now)
            else job.run_at
        end,
        lease_until = null,
        holder = null,
        progress = null,
        terminal_at = case when change.waits then null else tick.now end,
        attempt = case when change.waits and job.terminal_at is not null then 0 else job.attempt - change.refund end,
        lapses = case when change.waits and job.terminal_at is not null then 0 else job.lapses end,
        error_type = coalesce(change.error_type, job.error_type),
        error_message = coalesce(change.error_message, job.error_message),
        error_traceback = coalesce(change.error_traceback, job.error_traceback),
        error_attempt = case
            when change.error_type is null then job.error_attempt
            else coalesce(change.error_attempt, job.attempt)
        end,
        error_at = case
            when change.error_type is null then job.error_at
            else coalesce(change.error_at, tick.now)
        end
    from
        tick
        cross join json_to_recordset($1::text::json) as change (
            id bigint, from_status text, from_time timestamptz, fence bigint, status text, waits boolean,
            at timestamptz, wait interval, refund integer, error_type text, error_message text, error_traceback text,
            error_attempt integer, error_at timestamptz
        )
    where
        job.id = change.id
        and job.status = change.from_status
        and (change.from_time is null or job.due_at = change.from_time)
        and (change.fence is null or job.fence = change.fence)
    returning job.id, change.waits
)
select id, (select pg_notify({channel}, '')::text from applied where waits limit 1) as rung
from applied
