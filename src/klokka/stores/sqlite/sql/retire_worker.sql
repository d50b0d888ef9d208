-- [fleet.beat]
delete from klokka_workers
where id = ?1
