-- [heartbeat.extends] [heartbeat.held] [heartbeat.quiet] $1 ids, $2 fences, $3 worker, $4 extension.
-- Fences are matched by position: `= any(ids) and = any(fences)` would accept swapped ones. No join, and no condition
-- that a partial index is for: nothing is left to plan but a look at the key for each id. The clock is read row by row:
-- a lease that ended while this waited for a lock is not revived.
with held as materialized (
    select $1::text::bigint[] as ids, $2::text::bigint[] as fences
)
update {schema}.jobs as job
set lease_until = greatest(job.lease_until, clock_timestamp() + $4::text::interval)
where
    job.id = any((select ids from held)::bigint[])
    and job.fence = (select fences from held)[array_position((select ids from held), job.id)]
    and job.status = 'running'
    and job.holder = $3::text
    and coalesce(job.lease_until, '-infinity') > clock_timestamp()
returning job.id
