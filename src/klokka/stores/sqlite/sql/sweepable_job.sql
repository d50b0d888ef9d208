-- [sweep.bounded] Whether more is left.
select exists (
    select 1
    from klokka_jobs
    where status = ?1 and terminal_at < ?2
)
