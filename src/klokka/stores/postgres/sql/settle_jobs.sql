-- [transition.cas] [transition.fence] [transition.times] [batch.each] The commonest change: from running, under a
-- fence, to a terminal state, without an error to keep. $1 distinct ids in rising order, $2 fences, $3 states.
-- No condition names a column of a partial index's predicate: a planner that thinks few jobs run would read all
-- running ones for each pair. Rows are found by id, not by ctid after a `for update`: a heartbeat that commits
-- meanwhile makes a version which this statement's snapshot cannot see, and the settlement would be lost.
update {schema}.jobs as job
set
    status = settled.status,
    terminal_at = clock_timestamp(),
    lease_until = null,
    holder = null,
    progress = null
from unnest($1::text::bigint[], $2::text::bigint[], $3::text::text[]) as settled (id, fence, status)
where job.id = settled.id and job.fence = settled.fence and job.status = 'running'
returning job.id
