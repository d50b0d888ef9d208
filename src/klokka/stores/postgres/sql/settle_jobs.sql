-- [transition.cas] [transition.fence] [transition.times] [batch.each] The commonest change: from running, under a
-- fence, to a terminal state, without an error to keep. $1 distinct ids, $2 fences, $3 states.
-- Fences are matched by position, and without a join: joined, a planner that thinks few jobs run reads all of them for
-- each pair. By id and not by ctid after a `for update`: a heartbeat that commits meanwhile makes a row version which
-- this statement's snapshot cannot see, and the settlement would be lost.
with settled as materialized (
    select $1::text::bigint[] as ids, $2::text::bigint[] as fences, $3::text::text[] as states
)
update {schema}.jobs as job
set
    status = (select states from settled)[array_position((select ids from settled), job.id)],
    terminal_at = clock_timestamp(),
    lease_until = null,
    holder = null,
    progress = null
where
    job.id = any((select ids from settled)::bigint[])
    and job.fence = (select fences from settled)[array_position((select ids from settled), job.id)]
    and job.status = 'running'
returning job.id
