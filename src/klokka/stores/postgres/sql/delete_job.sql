-- [operate.delete] $1 id.
delete from {schema}.jobs
where id = $1::text::bigint
returning id
