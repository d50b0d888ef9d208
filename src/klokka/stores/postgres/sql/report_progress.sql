-- [progress.held] $1 id, $2 fence, $3 value.
update {schema}.jobs
set progress = $3::text::double precision
where id = $1::text::bigint and fence = $2::text::bigint and status = 'running'
returning id
