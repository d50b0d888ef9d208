-- [key.once] A record that is not over keeps its token, and nothing comes back. $1 scope, $2 key, $3 token, $4 ttl.
insert into {schema}.idempotency_keys as record (scope, key, token, expires_at)
values ($1::text, $2::text, $3::text, clock_timestamp() + $4::text::interval)
on conflict (scope, key) do update
set token = excluded.token, expires_at = clock_timestamp() + $4::text::interval
where record.expires_at <= clock_timestamp()
returning token
