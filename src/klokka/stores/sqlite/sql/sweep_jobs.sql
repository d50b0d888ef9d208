-- [sweep.retention] [sweep.bounded] Chosen and deleted in one statement, so that a job reopened meanwhile stays.
delete from klokka_jobs
where id in (
    select id
    from klokka_jobs
    where status = ?1 and terminal_at < ?2
    order by terminal_at
    limit ?3
)
