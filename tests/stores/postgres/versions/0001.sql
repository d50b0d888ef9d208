-- What code of version 1 may have left behind: a job in every state, and a row of everything else.
insert into klokka.jobs (
    enqueued_at, scheduled_for, run_at, due_at, lease_until, terminal_at, attempt, lapses, payload_version, status,
    queue, kind, holder, unique_key, schedule_id, payload, headers, fence, error_type, error_message, error_at
)
values
    (now(), now(), now(), now(), null, null, 0, 0, 1, 'enqueued', 'default', 'k', null, 'key', null, '{"a": 1}', null, 0, null, null, null),
    (now(), now(), now(), now() + interval '1 hour', null, null, 0, 0, 1, 'scheduled', 'default', 'k', null, null, 's', '2', '{"h":"v"}', 0, null, null, null),
    (now(), now(), now(), null, now() - interval '1 second', null, 1, 0, 1, 'running', 'default', 'k', 'gone', null, null, '3', null, 1, null, null, null),
    (now(), now(), now(), now(), null, null, 2, 1, 1, 'failed', 'default', 'k', null, null, null, '4', null, 2, 'E', 'm', now()),
    (now(), now(), now(), null, null, now(), 1, 0, 1, 'succeeded', 'default', 'k', null, null, null, '5', null, 1, null, null, null),
    (now(), now(), now(), null, null, now(), 3, 0, 1, 'dead_lettered', 'default', 'k', null, 'dead', null, '6', null, 3, 'E', 'm', now()),
    (now(), now(), now(), null, null, now(), 0, 0, 1, 'cancelled', 'default', 'k', null, null, null, '7', null, 0, null, null, null);
insert into klokka.schedules (id, kind, fingerprint, description, next_fire_at, fence)
values ('s', 'k', 'f', 'd', now() - interval '1 second', 4);
insert into klokka.paused_queues values ('resting', 'r');
insert into klokka.workers
values ('w', 'h', 1, '0', '{default}', '{k}', '{s}', 1, 0, now(), now(), now() + interval '1 hour');
insert into klokka.idempotency_keys values ('scope', 'key', 'token', now() + interval '1 hour');
insert into klokka.leases values ('l', 'me', now() + interval '1 hour', 5);
insert into klokka.cursors values ('c', '2024-01-01T00:00:00Z');
