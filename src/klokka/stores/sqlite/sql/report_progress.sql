-- [progress.held]
update klokka_jobs
set progress = ?1
where id = ?2 and fence = ?3 and status = 'running'
