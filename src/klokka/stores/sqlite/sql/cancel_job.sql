-- [operate.cancel] From any state that is not terminal.
update klokka_jobs
set status = 'cancelled', terminal_at = ?1, due_at = null, lease_until = null, holder = null
where id = ?2 and terminal_at is null
