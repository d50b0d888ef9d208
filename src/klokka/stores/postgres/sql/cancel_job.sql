-- [operate.cancel] From any state that is not terminal. $1 id.
update {schema}.jobs
set
    status = 'cancelled',
    terminal_at = clock_timestamp(),
    due_at = null,
    lease_until = null,
    holder = null,
    progress = null
where id = $1::text::bigint and terminal_at is null
returning id
