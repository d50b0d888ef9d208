-- [key.owner] $1 scope, $2 key, $3 token. A record that is over is nobody's.
delete from {schema}.idempotency_keys
where scope = $1::text and key = $2::text and token = $3::text and expires_at > clock_timestamp()
returning token
