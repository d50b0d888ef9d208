-- [fleet.pause]
select queue, reason
from klokka_paused_queues
order by queue
