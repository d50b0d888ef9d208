-- [operate.requeue] [transition.restart] From any terminal state. The unique index on live keys refuses a held key.
-- $1 id.
with tick as materialized (
    select clock_timestamp() as now
),
requeued as (
    update {schema}.jobs
    set
        status = 'enqueued',
        run_at = tick.now,
        due_at = tick.now,
        terminal_at = null,
        attempt = 0,
        lapses = 0
    from tick
    where id = $1::text::bigint and status in ('succeeded', 'dead_lettered', 'cancelled')
    returning id
)
select pg_notify({channel}, '')::text
from requeued
