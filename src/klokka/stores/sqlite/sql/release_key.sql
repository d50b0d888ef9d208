-- [key.owner] A record that is over is nobody's.
delete from klokka_keys
where scope = ?1 and key = ?2 and token = ?3 and expires_at > ?4
