-- [fleet.pause]
delete from klokka_paused_queues
where queue = ?1
