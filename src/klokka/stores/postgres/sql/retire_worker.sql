-- [fleet.beat] $1 id.
delete from {schema}.workers
where id = $1::text
