-- Sessions whose lock on a table of ours, held or queued for, keeps Klokka's writes out, and behind whom each stands.
-- Takes no lock on a table. $1 schema.
with recursive obstacles as (
    select coalesce(lock.pid, 0) as pid, min(relation.relname::text) as name, min(lock.mode) as mode
    from
        pg_catalog.pg_locks as lock
        inner join pg_catalog.pg_class as relation on relation.oid = lock.relation
        inner join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
        inner join pg_catalog.pg_database as here on here.oid = lock.database
    where
        here.datname = current_database() and namespace.nspname = $1::text and relation.relkind = 'r'
        and lock.locktype = 'relation' and lock.pid is distinct from pg_backend_pid()
        and lock.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    group by 1
),
chain (pid, behind) as (
    select pid, unnest(pg_blocking_pids(pid)) from obstacles
    union
    select chain.behind, unnest(pg_blocking_pids(chain.behind)) from chain
)
select
    person.pid, obstacle.name, obstacle.mode,
    coalesce(nullif(activity.application_name, ''), 'no application_name')
    || coalesce(', ' || activity.state, ', user ' || activity.usename, ''),
    array(select distinct behind from chain where chain.pid = person.pid order by behind)
from
    (select pid from obstacles union select behind from chain) as person
    left join obstacles as obstacle on obstacle.pid = person.pid
    left join pg_catalog.pg_stat_activity as activity on activity.pid = person.pid
order by person.pid
