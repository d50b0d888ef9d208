-- [tx.open] The file behind `main` of a user's connection; a blob, so that its text_factory does not matter.
select cast(file as blob)
from pragma_database_list
where name = 'main'
