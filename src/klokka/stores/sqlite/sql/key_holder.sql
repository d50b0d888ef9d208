-- [enqueue.unique] The live job that holds a key. The terms are those of the partial index klokka_jobs_live_key.
-- `id + 0` has no declared type, so that no converter of a user's own connection can touch it.
select id + 0
from klokka_jobs
where unique_key = ?1 and terminal_at is null
