-- [schedule.complete] [schedule.fence] The fence is used up, so that the same completion sent twice applies once.
-- $1 id, $2 fence, $3 the next fire.
update {schema}.schedules
set
    next_fire_at = $3::text::timestamptz,
    last_fired_at = clock_timestamp(),
    lease_until = null,
    holder = null,
    fence = fence + 1
where id = $1::text and fence = $2::text::bigint and lease_until is not null
returning id
