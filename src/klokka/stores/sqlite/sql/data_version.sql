-- [wakeups.commit] Changes with every commit by another connection, for listeners that hear no datagrams.
select data_version
from pragma_data_version
