-- [query.order] [query.filters] [query.page] `true` is replaced by the terms of the filters that are given:
-- `(:kind is null or kind = :kind)` would keep SQLite from using the index of kinds.
select id, kind, queue, status, attempt, run_at, enqueued_at, schedule_id, due_at, terminal_at
from klokka_jobs
where true
order by id desc
limit :limit offset :offset
