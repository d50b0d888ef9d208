-- [enqueue.ids] The highest id ever given. sqlite_sequence is what autoincrement itself obeys; the table's own
-- highest id counts too, as it does there, should somebody have emptied sqlite_sequence.
-- Sums and max() carry no declared type, so that no converter of a user's own connection can touch them.
select max(
    coalesce((select seq from sqlite_sequence where name = 'klokka_jobs'), 0),
    coalesce((select max(id) from klokka_jobs), 0)
)
