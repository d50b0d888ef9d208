-- [heartbeat.extends] [heartbeat.held] [heartbeat.quiet] $1 ids, $2 fences by position, $3 worker, $4 extension.
-- `= any(ids) and = any(fences)` would accept swapped fences; why it is no join stands at settle_jobs. No condition is
-- one that a partial index is for: nothing is left to plan but a look at the key for each id. The clock is read row by
-- row: a lease that ended while this waited for a lock is not revived.
update {schema}.jobs as job
set lease_until = greatest(job.lease_until, clock_timestamp() + $4::text::interval)
where
    job.id = any($1::text::bigint[])
    and (
        (job.id, job.fence) in (
            select pair.id, pair.fence
            from unnest($1::text::bigint[], $2::text::bigint[]) as pair (id, fence)
        )
    ) is true
    and job.status = 'running'
    and job.holder = $3::text
    and coalesce(job.lease_until, '-infinity') > clock_timestamp()
returning job.id
