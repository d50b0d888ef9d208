-- [sweep.retention] [sweep.bounded] Free exactly at its end, so swept from there on.
delete from klokka_keys
where (scope, key) in (
    select scope, key
    from klokka_keys
    where expires_at <= ?1
    order by expires_at
    limit ?2
)
