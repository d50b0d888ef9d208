-- [schedule.upsert-new] [schedule.upsert-same] [schedule.upsert-changed] [schedule.upsert-keeps]
-- An equal fingerprint fails the condition, and no page is written.
insert into klokka_schedules (id, kind, fingerprint, description, next_fire_at)
values (?1, ?2, ?3, ?4, ?5)
on conflict (id) do update
set
    kind = excluded.kind,
    fingerprint = excluded.fingerprint,
    description = excluded.description,
    next_fire_at = excluded.next_fire_at,
    lease_until = null,
    holder = null,
    fence = fence + 1
where fingerprint <> excluded.fingerprint
