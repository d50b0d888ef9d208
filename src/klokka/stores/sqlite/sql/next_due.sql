-- [claim.next-due] The earliest due time or end of a lease over queues and kinds, each by one look at the head of an
-- index; min() over all rows would read every waiting one.
select min(at)
from (
    select
        (
            select due_at
            from klokka_jobs
            where queue = queues.value and kind = kinds.value and due_at is not null
            order by due_at
            limit 1
        ) as at
    from json_each(?1) as queues, json_each(?2) as kinds
    where queues.value not in (select queue from klokka_paused_queues)
    union all
    select
        (
            select lease_until
            from klokka_jobs
            where queue = queues.value and kind = kinds.value and lease_until is not null
            order by lease_until
            limit 1
        ) as at
    from json_each(?1) as queues, json_each(?2) as kinds
    where queues.value not in (select queue from klokka_paused_queues)
)
