-- [claim.attempt] [claim.lapses] [claim.fence] [claim.lease] [progress.held] Runs under the lock under which the rows
-- were chosen, so it checks nothing again. One statement for all, since Python lets go of its own lock at every step of
-- a statement and another thread may take it: with a busy event loop beside, one execution for each row took twice the
-- time of the whole. `in (select …)` looks each up by id; `update … from json_each` would gather them in a table first.
update klokka_jobs
set
    status = 'running',
    attempt = attempt + 1,
    lapses = lapses + (lease_until is not null),
    fence = fence + 1,
    due_at = null,
    lease_until = ?1,
    holder = ?2,
    progress = null
where id in (select value from json_each(?3))
