-- [key.once] A record that is not over keeps its token, and nothing comes back.
insert into klokka_keys (scope, key, token, expires_at)
values (?1, ?2, ?3, ?4)
on conflict (scope, key) do update
set token = excluded.token, expires_at = excluded.expires_at
where expires_at <= ?5
