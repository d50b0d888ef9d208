-- [operate.requeue] [transition.restart] From any terminal state. The unique index on live keys refuses a held key.
update klokka_jobs
set status = 'enqueued', run_at = ?1, due_at = ?1, terminal_at = null, attempt = 0, lapses = 0
where id = ?2 and terminal_at is not null
