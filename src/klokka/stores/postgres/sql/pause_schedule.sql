-- [operate.schedule] A fire in flight is withdrawn. $1 id, $2 reason.
update {schema}.schedules
set paused = $2::text, lease_until = null, holder = null, fence = fence + 1
where id = $1::text
returning id
