-- [schedule.due] Runs under the lock under which the row was chosen.
update klokka_schedules
set lease_until = ?1, holder = ?2, fence = fence + 1
where id = ?3
