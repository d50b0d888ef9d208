-- [query.order] [query.filters] [query.page] $1 limit, $2 offset, $3 the id below which to look. `true` is replaced by
-- the terms of the filters that are given: `($4 is null or kind = $4)` would keep the planner from any index.
select id, kind, queue, status, attempt, run_at, enqueued_at, schedule_id, due_at, terminal_at
from {schema}.jobs
where id < $3::text::bigint and true
order by id desc
limit $1::text::bigint
offset $2::text::bigint
