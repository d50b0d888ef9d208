-- [operate.schedule] A fire in flight is withdrawn.
update klokka_schedules
set paused = null, next_fire_at = ?1, lease_until = null, holder = null, fence = fence + 1
where id = ?2 and paused is not null
