-- [query.counts]
select status, count(*)
from {schema}.jobs
group by status
