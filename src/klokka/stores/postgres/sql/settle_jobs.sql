-- [transition.cas] [transition.fence] [transition.times] [batch.each] The commonest change: from running, under a
-- fence, to a terminal state, without an error to keep. $1 distinct ids, $2 fences by position, $3 the state.
-- Pairs are found in a hash, and not by a join (`is true` keeps the planner from making one): joined, a planner that
-- thinks few jobs run reads all of them for each pair. By id and not by ctid after a `for update`: a heartbeat that
-- commits meanwhile makes a row version which this statement's snapshot cannot see, and the settlement would be lost.
update {schema}.jobs as job
set
    status = $3::text,
    terminal_at = clock_timestamp(),
    lease_until = null,
    holder = null,
    progress = null
where
    job.id = any($1::text::bigint[])
    and (
        (job.id, job.fence) in (
            select pair.id, pair.fence
            from unnest($1::text::bigint[], $2::text::bigint[]) as pair (id, fence)
        )
    ) is true
    and job.status = 'running'
returning job.id
