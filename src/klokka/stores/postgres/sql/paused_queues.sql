-- [fleet.pause]
select queue, reason
from {schema}.paused_queues
order by queue
