-- Instants are whole microseconds since 1970-01-01 UTC. Every table begins with klokka_, so that users may keep
-- their own tables in the same file and enqueue in one transaction with them.

-- Short columns first: a list of jobs reads no overflow page of a payload or a traceback.
create table klokka_jobs (
    id integer primary key autoincrement, -- autoincrement: an id never comes back after a sweep [enqueue.ids]
    status text not null,
    queue text not null,
    kind text not null,
    payload_version integer not null,
    attempt integer not null default 0 check (attempt >= 0),
    lapses integer not null default 0,
    fence integer not null default 0,
    enqueued_at integer not null,
    scheduled_for integer not null, -- the first plan [claim.scheduled-for]
    run_at integer not null, -- the last plan; a booked retry stands in due_at
    due_at integer, -- when a waiting job may be claimed
    lease_until integer,
    holder text,
    terminal_at integer,
    progress real,
    unique_key text,
    schedule_id text,
    payload text not null,
    headers text, -- a JSON object; null for none
    error_type text,
    error_message text,
    error_attempt integer,
    error_at integer,
    error_traceback text,
    -- Exactly one of due_at, lease_until and terminal_at is set, by the status [transition.times]: a running job
    -- without a lease cannot exist, and the partial indexes below hold each job in one of them alone.
    check (
        case status
        when 'running' then due_at is null and lease_until is not null and holder is not null and terminal_at is null
        when 'scheduled' then due_at is not null and lease_until is null and holder is null and terminal_at is null
        when 'enqueued' then due_at is not null and lease_until is null and holder is null and terminal_at is null
        when 'failed' then due_at is not null and lease_until is null and holder is null and terminal_at is null
        when 'succeeded' then due_at is null and lease_until is null and holder is null and terminal_at is not null
        when 'dead_lettered' then due_at is null and lease_until is null and holder is null and terminal_at is not null
        when 'cancelled' then due_at is null and lease_until is null and holder is null and terminal_at is not null
        else false end
    )
) strict;

-- SQLite uses a partial index only where a query's terms imply its condition; each ends with the id by itself.
create index klokka_jobs_due on klokka_jobs (queue, kind, due_at) where due_at is not null;
create index klokka_jobs_leased on klokka_jobs (queue, kind, lease_until) where lease_until is not null;
create index klokka_jobs_ended on klokka_jobs (status, terminal_at) where terminal_at is not null;
create unique index klokka_jobs_live_key on klokka_jobs (unique_key)
    where unique_key is not null and terminal_at is null;
-- The rest serves lists, newest first.
create index klokka_jobs_status on klokka_jobs (status);
create index klokka_jobs_kind on klokka_jobs (kind);
create index klokka_jobs_queue on klokka_jobs (queue);
create index klokka_jobs_key on klokka_jobs (unique_key) where unique_key is not null;
create index klokka_jobs_schedule on klokka_jobs (schedule_id) where schedule_id is not null;

create table klokka_schedules (
    id text primary key,
    kind text not null,
    fingerprint text not null,
    description text not null,
    next_fire_at integer,
    last_fired_at integer,
    lease_until integer,
    holder text,
    fence integer not null default 0,
    paused text -- the reason
) strict, without rowid;

create table klokka_paused_queues (
    queue text primary key,
    reason text not null
) strict, without rowid;

create table klokka_workers (
    id text primary key,
    host text not null,
    pid integer not null,
    version text not null,
    queues text not null, -- this and the next two: JSON arrays
    kinds text not null,
    schedules text not null,
    slots integer not null,
    busy integer not null,
    started_at integer not null,
    last_beat integer not null,
    live_until integer not null
) strict, without rowid;

create table klokka_keys (
    scope text not null,
    key text not null,
    token text not null,
    expires_at integer not null,
    primary key (scope, key)
) strict, without rowid;

create index klokka_keys_expiry on klokka_keys (expires_at);

-- A row stays when its lease ends, since the fence must not start again [lease.one].
create table klokka_leases (
    name text primary key,
    owner text not null,
    lease_until integer not null,
    fence integer not null
) strict, without rowid;

create table klokka_cursors (
    name text primary key,
    stands_at integer not null
) strict, without rowid;
