-- {schema} stands for the schema's quoted name. Names compare byte by byte (collate "C"): exact, the same order on
-- every server, and no index breaks when the system's collations change.
-- Instants stay within the years 1 to 9999: what lies outside, clients could not read.

-- Short columns first, texts of any length last.
create table {schema}.jobs (
    -- No cache of ids for each session: those of a call that had returned must be smaller [enqueue.ids].
    id bigint generated always as identity (cache 1) primary key,
    fence bigint not null default 0,
    enqueued_at timestamptz not null,
    scheduled_for timestamptz not null, -- the first plan [claim.scheduled-for]
    run_at timestamptz not null, -- the last plan; a booked retry stands in due_at
    due_at timestamptz, -- when a waiting job may be claimed
    lease_until timestamptz,
    terminal_at timestamptz,
    error_at timestamptz,
    progress double precision,
    attempt integer not null default 0 check (attempt >= 0),
    lapses integer not null default 0,
    payload_version integer not null,
    error_attempt integer,
    status text collate "C" not null,
    queue text collate "C" not null,
    kind text collate "C" not null,
    holder text collate "C",
    unique_key text collate "C",
    schedule_id text collate "C",
    payload text not null,
    headers text, -- a JSON object as it was given; jsonb would refuse some texts and reorder others. Null for none
    error_type text,
    error_message text,
    error_traceback text,
    -- Exactly one of due_at, lease_until and terminal_at is set, by the status [transition.times]: a running job
    -- without a lease cannot exist, and the partial indexes below hold each job in one of them alone.
    constraint jobs_states check (
        case
            when status = 'running'
            then due_at is null and lease_until is not null and holder is not null and terminal_at is null
            when status in ('scheduled', 'enqueued', 'failed')
            then due_at is not null and lease_until is null and holder is null and terminal_at is null
            when status in ('succeeded', 'dead_lettered', 'cancelled')
            then due_at is null and lease_until is null and holder is null and terminal_at is not null
            else false
        end
    ),
    constraint jobs_calendar check (
        least(scheduled_for, run_at, due_at) >= '0001-01-01 00:00:00+00'
        and greatest(scheduled_for, run_at, due_at, lease_until) < '10000-01-01 00:00:00+00'
    )
)
with (
    -- A claim and a settlement each move a job from one partial index to the next, so that no update could be
    -- confined to its page: room kept free on the pages would only make more of them.
    fillfactor = 100,
    -- Dead entries at the head of the due jobs are what slows a claim. A share of the table, which finished jobs
    -- make large, comes too late to clear them.
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 1
);

-- Claims read these in their order [claim.order].
create index jobs_due on {schema}.jobs (queue, kind, due_at, id) where due_at is not null;
create index jobs_leased on {schema}.jobs (queue, kind, lease_until, id) where lease_until is not null;
create index jobs_ended on {schema}.jobs (status, terminal_at) where terminal_at is not null;
create unique index jobs_live_key on {schema}.jobs (unique_key) where unique_key is not null and terminal_at is null;
-- The rest serves lists, newest first, and costs nothing on the way of a job that succeeds and has no key.
create index jobs_trouble on {schema}.jobs (status, id) where status in ('failed', 'dead_lettered', 'cancelled');
create index jobs_ended_key on {schema}.jobs (unique_key, id) where unique_key is not null and terminal_at is not null;
create index jobs_schedule on {schema}.jobs (schedule_id, id) where schedule_id is not null;

create table {schema}.schedules (
    id text collate "C" primary key,
    kind text collate "C" not null,
    fingerprint text collate "C" not null,
    description text not null,
    next_fire_at timestamptz,
    last_fired_at timestamptz,
    lease_until timestamptz,
    holder text collate "C",
    fence bigint not null default 0,
    paused text, -- the reason
    constraint schedules_calendar check (
        next_fire_at >= '0001-01-01 00:00:00+00'
        and greatest(next_fire_at, lease_until) < '10000-01-01 00:00:00+00'
    )
);

create table {schema}.paused_queues (
    queue text collate "C" primary key,
    reason text not null
);

create table {schema}.workers (
    id text collate "C" primary key,
    host text not null,
    pid bigint not null,
    version text not null,
    queues text[] not null,
    kinds text[] not null,
    schedules text[] not null,
    slots bigint not null,
    busy bigint not null,
    started_at timestamptz not null,
    last_beat timestamptz not null,
    live_until timestamptz not null
);

create table {schema}.idempotency_keys (
    scope text collate "C" not null,
    key text collate "C" not null,
    token text collate "C" not null,
    expires_at timestamptz not null,
    constraint idempotency_keys_calendar check (expires_at < '10000-01-01 00:00:00+00'),
    primary key (scope, key)
);

create index idempotency_keys_expiry on {schema}.idempotency_keys (expires_at);

-- A row stays when its lease ends, since the fence must not start again [lease.one].
create table {schema}.leases (
    name text collate "C" primary key,
    owner text collate "C" not null,
    lease_until timestamptz not null,
    fence bigint not null,
    constraint leases_calendar check (lease_until < '10000-01-01 00:00:00+00')
);

create table {schema}.cursors (
    name text collate "C" primary key,
    stands_at timestamptz not null
);

-- Ends a statement, and with it all that it wrote, whose answer would need a job that is newer than its snapshot
-- [enqueue.unique-race].
create function {schema}.unseen_holder(unique_key text) returns bigint
language plpgsql volatile
as $$
begin
    raise exception using
        errcode = 'KL001',
        message = 'the job that holds a unique key is newer than this statement',
        hint = 'Repeat the statement.';
end
$$;
