-- [query.details] $1 id.
select
    id, kind, queue, status, attempt, run_at, enqueued_at, schedule_id, due_at, terminal_at,
    payload, payload_version, unique_key, scheduled_for, fence, lapses, lease_until, holder, progress, headers,
    error_type, error_message, error_traceback, error_attempt, error_at
from {schema}.jobs
where id = $1::text::bigint
