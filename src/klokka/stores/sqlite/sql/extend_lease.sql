-- [heartbeat.extends] [heartbeat.held] [heartbeat.quiet]
update klokka_jobs
set lease_until = max(lease_until, ?1)
where id = ?2 and fence = ?3 and status = 'running' and holder = ?4 and lease_until > ?5
