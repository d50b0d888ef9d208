-- Of the newest jobs alone, the ids that a list is asked for: its first page, if one job in twenty is one of these.
-- $1 limit, $2 offset, $3 the id below which to look. `true` is replaced as in list_jobs.
select newest.id
from (
    select job.*
    from {schema}.jobs as job
    where job.id < $3::text::bigint
    order by job.id desc
    limit least($1::text::bigint + $2::text::bigint, 500) * 20
) as newest
where true
order by newest.id desc
limit $1::text::bigint + $2::text::bigint
