-- [lease.cursor] $1 name.
select stands_at
from {schema}.cursors
where name = $1::text
