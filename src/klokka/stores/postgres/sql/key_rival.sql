-- [transition.reopen] [operate.requeue] The live job that holds the key of job $1.
select job.id
from {schema}.jobs as job
where
    job.unique_key = (select mine.unique_key from {schema}.jobs as mine where mine.id = $1::text::bigint)
    and job.terminal_at is null
    and job.id <> $1::text::bigint
