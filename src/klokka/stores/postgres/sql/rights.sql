-- What the connected role may do. $1 schema, $2 a JSON array of {duty, relation, privilege}.
select duty
from (
    select
        needed.duty,
        bool_and(coalesce(
            has_schema_privilege(namespace.oid, 'usage')
            and has_table_privilege(relation.oid, needed.privilege)
            and has_sequence_privilege(ids.oid, 'usage'),
            false
        )) as allowed
    from
        json_to_recordset($2::text::json) as needed (duty text, relation text, privilege text)
        left join pg_catalog.pg_namespace as namespace on namespace.nspname = $1::text
        left join pg_catalog.pg_class as relation
            on relation.relnamespace = namespace.oid and relation.relname = needed.relation
        left join pg_catalog.pg_class as ids
            on ids.relnamespace = namespace.oid and ids.relname = 'jobs_id_seq'
    group by needed.duty
    union all
    select
        'migrate',
        coalesce(
            (
                select bool_and(pg_has_role(relation.relowner, 'usage'))
                from pg_catalog.pg_class as relation
                where relation.relnamespace = namespace.oid and relation.relkind in ('r', 'S')
            )
            and has_schema_privilege(namespace.oid, 'create'),
            has_database_privilege(current_database(), 'create')
        )
    from (values (1)) as one (row) left join pg_catalog.pg_namespace as namespace on namespace.nspname = $1::text
) as duties
where allowed
