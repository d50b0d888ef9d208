-- [transition.reopen] [operate.requeue] The live job that holds the key of job $1.
select rival.id
from {schema}.jobs as mine
inner join {schema}.jobs as rival on rival.unique_key = mine.unique_key and rival.terminal_at is null
where mine.id = $1::text::bigint and rival.id <> mine.id
