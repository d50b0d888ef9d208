-- [operate.schedule] A fire in flight is withdrawn. $1 id, $2 the next fire.
update {schema}.schedules
set
    paused = null,
    next_fire_at = $2::text::timestamptz,
    lease_until = null,
    holder = null,
    fence = fence + 1
where id = $1::text and paused is not null
returning id
