-- [enqueue.order] [enqueue.atomic] [enqueue.ids] [enqueue.state] [claim.scheduled-for] [wakeups.commit]
-- Jobs without unique keys. $1: a JSON array of them. One text is as fast to send and to take apart as nine arrays
-- are, and any driver can send it. Rings if one of them may be due before a worker looks by itself.
-- All rows come from `tick`, so that another statement may gate this one: composing.py.
-- Ids are dealt while the array is read, so that they rise with the input and each is known to be its job's.
with tick as materialized (
    select clock_timestamp() as now
),
given as materialized (
    select nextval({ids}) as id, tick.now, coalesce(job.run_at, tick.now + job.wait, tick.now) as plan, job.*
    from
        tick
        cross join rows from (
            json_to_recordset($1::text::json) as (
                kind text, queue text, payload text, payload_version integer, run_at timestamptz, wait interval,
                unique_key text, schedule_id text, headers text
            )
        ) with ordinality as job (
            kind, queue, payload, payload_version, run_at, wait, unique_key, schedule_id, headers, place
        )
),
stored as (
    insert into {schema}.jobs (
        id, status, queue, kind, payload, payload_version, schedule_id, headers,
        enqueued_at, scheduled_for, run_at, due_at
    )
    overriding system value
    select
        id, case when plan <= now then 'enqueued' else 'scheduled' end, queue, kind, payload, payload_version,
        schedule_id, headers, now, plan, plan, plan
    from given
)
select
    id,
    true as created,
    (select pg_notify({channel}, '')::text from given where plan <= now + {sleep} limit 1) as rung
from given
order by place
