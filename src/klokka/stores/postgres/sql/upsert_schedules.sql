-- [schedule.upsert-new] [schedule.upsert-same] [schedule.upsert-changed] [schedule.upsert-keeps]
-- $1: a JSON array of definitions with distinct ids. Equal ones are left out at first, since even an update whose
-- condition fails would lock the row, which is a write. Rows go in by id, so that no two calls wait for each other.
insert into {schema}.schedules as known (id, kind, fingerprint, description, next_fire_at)
select spec.id, spec.kind, spec.fingerprint, spec.description, spec.fire_at
from json_to_recordset($1::text::json) as spec (
    id text, kind text, fingerprint text, description text, fire_at timestamptz
)
where not exists (
    select
    from {schema}.schedules as same
    where same.id = spec.id and same.fingerprint = spec.fingerprint
)
order by spec.id collate "C"
on conflict (id) do update
set
    kind = excluded.kind,
    fingerprint = excluded.fingerprint,
    description = excluded.description,
    next_fire_at = excluded.next_fire_at,
    lease_until = null,
    holder = null,
    fence = known.fence + 1
where known.fingerprint <> excluded.fingerprint
