-- [transition.reopen] [operate.requeue] The live job that holds the key of this one.
select rival.id
from klokka_jobs as mine
inner join klokka_jobs as rival on rival.unique_key = mine.unique_key and rival.terminal_at is null
where mine.id = ?1 and rival.id <> mine.id
