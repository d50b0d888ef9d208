-- [enqueue.state] [claim.scheduled-for] A new job: its plan is its due time and what it was meant for.
insert into klokka_jobs (
    id, status, queue, kind, payload_version, enqueued_at, scheduled_for, run_at, due_at,
    unique_key, schedule_id, payload, headers
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?7, ?8, ?9, ?10, ?11)
