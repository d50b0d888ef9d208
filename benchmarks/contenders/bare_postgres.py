"""Plain statements on Klokka's own table, with the same fences, and a schema for them."""

from benchmarks.contenders.running import Options
from benchmarks.contenders.work import nothing_to_do

CLAIM = """
    update klokka.jobs
    set
        status = 'running', attempt = attempt + 1, fence = fence + 1, due_at = null, holder = 'bare',
        lease_until = clock_timestamp() + interval '30 seconds'
    where id = any(array(
        select id from klokka.jobs
        where queue = 'default' and kind = 'nothing' and due_at <= now()
        order by due_at, id limit $1 for update skip locked
    ))
    returning id, fence, payload
"""
COMPLETE = """
    update klokka.jobs as job
    set status = 'succeeded', lease_until = null, holder = null, terminal_at = clock_timestamp()
    from (
        select found.place
        from unnest($1::bigint[], $2::bigint[]) as held (id, fence)
        cross join lateral (
            select mine.ctid as place from klokka.jobs as mine
            where mine.id = held.id and mine.fence = held.fence and mine.status = 'running'
            for update
        ) as found
    ) as taken
    where job.ctid = taken.place
"""
MANY = """
    insert into klokka.jobs (
        status, queue, kind, payload, payload_version, enqueued_at, scheduled_for, run_at, due_at
    )
    select 'enqueued', queue, kind, payload, 1, now(), now(), now(), now()
    from unnest($1::text[], $2::text[], $3::text[]) as given (queue, kind, payload)
    returning id
"""
ONE = """
    insert into klokka.jobs (
        status, queue, kind, payload, payload_version, enqueued_at, scheduled_for, run_at, due_at
    )
    values ('enqueued', $1, $2, $3, 1, now(), now(), now(), now())
    returning id
"""


async def prepared(options: Options) -> None:
    """Makes the schema."""
    app, _ = nothing_to_do(options.url)
    async with app:
        pass
