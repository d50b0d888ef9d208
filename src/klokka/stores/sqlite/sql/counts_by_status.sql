-- [query.counts] Over the index of statuses alone.
select status, count(*)
from klokka_jobs
group by status
