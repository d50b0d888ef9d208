-- [sweep.bounded] Whether more is left.
select exists (
    select 1
    from klokka_keys
    where expires_at <= ?1
)
