-- [query.depths] Over the indexes of waiting and leased jobs alone. An ended lease is due since its end.
select
    live.queue,
    sum(live.due),
    sum(live.waiting),
    sum(live.running),
    min(live.oldest_due),
    paused.reason
from (
    select
        queue,
        count(*) filter (where due_at <= ?1) as due,
        count(*) filter (where due_at > ?1) as waiting,
        0 as running,
        min(due_at) filter (where due_at <= ?1) as oldest_due
    from klokka_jobs
    where due_at is not null
    group by queue
    union all
    select
        queue,
        count(*) filter (where lease_until <= ?1),
        0,
        count(*) filter (where lease_until > ?1),
        min(lease_until) filter (where lease_until <= ?1)
    from klokka_jobs
    where lease_until is not null
    group by queue
    union all
    select queue, 0, 0, 0, null
    from klokka_paused_queues
) as live
left join klokka_paused_queues as paused on paused.queue = live.queue
group by live.queue
order by live.queue
