-- [transition.cas] [transition.fence] The commonest change: from running, under a fence, to a terminal state, without
-- an error to keep. transition_job says the same at twice the cost.
update klokka_jobs
set status = ?1, terminal_at = ?2, lease_until = null, holder = null
where id = ?3 and status = 'running' and fence = ?4
