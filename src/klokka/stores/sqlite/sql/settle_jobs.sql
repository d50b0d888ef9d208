-- [transition.cas] [transition.fence] The commonest change: from running, under a fence, to a terminal state, without
-- an error to keep. transition_job says the same at twice the cost. One statement for all jobs that have this fence,
-- for the reason in claim_jobs: pairs of ids and fences cannot be swapped where all fences are one. The plus keeps SQLite
-- from the index on the status, under which it would look at all that runs.
update klokka_jobs
set status = ?1, terminal_at = ?2, lease_until = null, holder = null
where id in (select value from json_each(?3)) and +status = 'running' and fence = ?4
