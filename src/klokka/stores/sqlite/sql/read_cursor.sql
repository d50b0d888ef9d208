-- [lease.cursor]
select stands_at
from klokka_cursors
where name = ?1
