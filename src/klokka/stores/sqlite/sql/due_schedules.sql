-- [schedule.due] Few rows and all of them by key, so that sorting them costs nothing.
select id, fingerprint, next_fire_at, fence + 1
from klokka_schedules
where
    id in (select value from json_each(?1))
    and paused is null
    and next_fire_at <= ?2
    and (lease_until is null or lease_until <= ?2)
order by next_fire_at, id
limit ?3
