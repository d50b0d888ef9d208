-- Our tables: how full, how clean, how they are kept. $1 schema.
select
    relation.relname,
    coalesce(stat.n_live_tup, 0)::bigint,
    coalesce(stat.n_dead_tup, 0)::bigint,
    greatest(stat.last_autovacuum, stat.last_vacuum),
    pg_table_size(relation.oid),
    pg_indexes_size(relation.oid),
    coalesce(array_to_string(relation.reloptions, ', '), '')
from
    pg_catalog.pg_class as relation
    inner join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
    left join pg_catalog.pg_stat_user_tables as stat on stat.relid = relation.oid
where namespace.nspname = $1::text and relation.relkind = 'r'
order by relation.relname
