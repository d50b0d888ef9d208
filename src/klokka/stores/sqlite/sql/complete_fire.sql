-- [schedule.complete] [schedule.fence] The fence is used up, so that the same completion sent twice applies once.
update klokka_schedules
set next_fire_at = ?1, last_fired_at = ?2, lease_until = null, holder = null, fence = fence + 1
where id = ?3 and fence = ?4 and lease_until is not null
