-- [query.schedules]
select id, kind, fingerprint, description, next_fire_at, last_fired_at, lease_until, fence, paused
from {schema}.schedules
order by id
