-- [query.depths] Over the indexes of waiting and leased jobs. An ended lease is due since its end.
with tick as materialized (
    select clock_timestamp() as now
)
select
    live.queue,
    sum(live.due)::bigint,
    sum(live.waiting)::bigint,
    sum(live.running)::bigint,
    min(live.oldest_due),
    paused.reason
from
    (
        select
            queue,
            count(*) filter (where due_at <= tick.now) as due,
            count(*) filter (where due_at > tick.now) as waiting,
            0 as running,
            min(due_at) filter (where due_at <= tick.now) as oldest_due
        from tick cross join {schema}.jobs
        where due_at is not null
        group by queue
        union all
        select
            queue,
            count(*) filter (where lease_until <= tick.now),
            0,
            count(*) filter (where lease_until > tick.now),
            min(lease_until) filter (where lease_until <= tick.now)
        from tick cross join {schema}.jobs
        where lease_until is not null
        group by queue
        union all
        select queue, 0, 0, 0, null
        from {schema}.paused_queues
    ) as live
    left join {schema}.paused_queues as paused on paused.queue = live.queue
group by live.queue, paused.reason
order by live.queue
