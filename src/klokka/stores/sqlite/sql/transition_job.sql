-- [transition.cas] [transition.fence] [transition.times] [transition.error] [transition.refund] [transition.restart]
-- due_at is the time of every waiting state, so that it is what a time in `from_` is compared to.
update klokka_jobs
set
    status = :to,
    due_at = :due_at,
    run_at = coalesce(:run_at, run_at),
    lease_until = null,
    holder = null,
    terminal_at = :terminal_at,
    attempt = case when :restart then 0 else attempt - :refund end,
    lapses = case when :restart then 0 else lapses end,
    error_type = coalesce(:error_type, error_type),
    error_message = coalesce(:error_message, error_message),
    error_traceback = coalesce(:error_traceback, error_traceback),
    error_attempt = case when :error_type is null then error_attempt else coalesce(:error_attempt, attempt) end,
    error_at = coalesce(:error_at, error_at)
where
    id = :id
    and status = :from
    and (:from_time is null or due_at = :from_time)
    and (:fence is null or fence = :fence)
