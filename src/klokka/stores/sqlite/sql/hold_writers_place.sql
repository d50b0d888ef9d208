-- [tx.unique] Takes the writer's place and changes nothing: what is read after it cannot be outdated at the insert.
-- An update, not BEGIN IMMEDIATE, since the transaction is the caller's.
update klokka_jobs
set fence = fence
where id = 0
