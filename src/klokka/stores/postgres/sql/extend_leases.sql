-- [heartbeat.extends] [heartbeat.held] [heartbeat.quiet] $1 ids in rising order, $2 fences, $3 worker, $4 extension.
-- Pairs are matched by position: `= any(ids) and = any(fences)` would accept swapped fences. The clock is read row by
-- row: a lease that ended while this waited for a lock is not revived.
update {schema}.jobs as job
set lease_until = greatest(job.lease_until, clock_timestamp() + $4::text::interval)
from unnest($1::text::bigint[], $2::text::bigint[]) as held (id, fence)
where
    job.id = held.id
    and job.fence = held.fence
    and job.status = 'running'
    and job.holder = $3::text
    and job.lease_until > clock_timestamp()
returning job.id
