-- [wakeups.commit] What a look compares: the last id given changes with every insert by whatever connection.
select coalesce((select seq from sqlite_sequence where name = 'klokka_jobs'), 0)
