-- [fleet.pause] $1 queue.
with resumed as (
    delete from {schema}.paused_queues
    where queue = $1::text
    returning queue
)
select pg_notify({channel}, '')::text
from resumed
