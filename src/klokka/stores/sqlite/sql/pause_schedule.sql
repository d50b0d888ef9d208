-- [operate.schedule] A fire in flight is withdrawn.
update klokka_schedules
set paused = ?1, lease_until = null, holder = null, fence = fence + 1
where id = ?2
