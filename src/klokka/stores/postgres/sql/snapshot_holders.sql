-- Who keeps dead rows from being cleared away, oldest first: transactions and snapshots of this database's sessions,
-- standbys that feed back what they still read, replication slots, prepared transactions. A session of another role
-- shows neither its state nor its query to whoever may not read all statistics.
select holder.what, holder.name, holder.since, clock_timestamp() - holder.since, coalesce(holder.age, 0)::bigint, holder.doing
from (
    select
        'session ' || activity.pid as what,
        coalesce(nullif(activity.application_name, ''), 'no application_name') || ', user '
        || coalesce(activity.usename::text, '?')
        || coalesce(', from ' || host(activity.client_addr), '') as name,
        activity.xact_start as since,
        coalesce(activity.state, '?') || ', its last query since '
        || coalesce(to_char(activity.query_start at time zone 'UTC', 'HH24:MI:SS'), '?') || ' UTC: '
        || left(regexp_replace(activity.query, '\s+', ' ', 'g'), 80) as doing,
        greatest(age(activity.backend_xmin), age(activity.backend_xid)) as age
    from pg_catalog.pg_stat_activity as activity
    where
        activity.datname = current_database()
        and activity.backend_type = 'client backend'
        and activity.pid <> pg_backend_pid()
        and coalesce(activity.backend_xmin, activity.backend_xid) is not null
    union all
    select
        'standby ' || coalesce(nullif(standby.application_name, ''), standby.pid::text),
        'user ' || coalesce(standby.usename::text, '?'), null, 'hot_standby_feedback', age(standby.backend_xmin)
    from pg_catalog.pg_stat_replication as standby
    where standby.backend_xmin is not null
    union all
    select
        'replication slot ' || slot.slot_name, case when slot.active then 'active' else 'not active' end, null,
        coalesce(slot.plugin, 'physical'), age(slot.xmin)
    from pg_catalog.pg_replication_slots as slot
    where slot.xmin is not null
    union all
    select
        'prepared transaction ' || prepared.gid, 'user ' || prepared.owner, prepared.prepared, 'prepared',
        age(prepared.transaction)
    from pg_catalog.pg_prepared_xacts as prepared
    where prepared.database = current_database()
) as holder
order by holder.since nulls last, holder.age desc nulls last
limit 5
