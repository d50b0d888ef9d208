-- [key.owner]
delete from klokka_keys
where scope = ?1 and key = ?2 and token = ?3
