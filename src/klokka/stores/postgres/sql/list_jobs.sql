-- [query.order] [query.filters] [query.page] $1 limit, $2 offset. `true` is replaced by the terms of the filters that
-- are given: `($3 is null or kind = $3)` would keep the planner from any index.
select id, kind, queue, status, attempt, run_at, enqueued_at, schedule_id, due_at, terminal_at
from {schema}.jobs
where true
order by id desc
limit $1::text::bigint
offset $2::text::bigint
