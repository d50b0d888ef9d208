-- Our indexes: whether they can be used, how large they are, and how many entries they had when last counted. $1 schema.
select
    relation.relname,
    state.indisvalid,
    pg_relation_size(relation.oid),
    greatest(relation.reltuples, 0)::bigint
from
    pg_catalog.pg_index as state
    inner join pg_catalog.pg_class as relation on relation.oid = state.indexrelid
    inner join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
where namespace.nspname = $1::text
order by relation.relname
