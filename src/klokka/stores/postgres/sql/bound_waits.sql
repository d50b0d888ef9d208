-- [enqueue.bounded] [tx.hands-off] Bounds waits for locks by $1 within the caller's transaction, unless the caller's own
-- bound is shorter, and gives the caller's, to be set back.
with bounds as materialized (
    select current_setting('lock_timeout') as before, $1::text::interval as ours
)
select
    before,
    set_config(
        'lock_timeout',
        case
            when before::interval > interval '0' and before::interval < ours then before
            else ceil(extract(epoch from ours) * 1000)::bigint || 'ms'
        end,
        true
    )
from bounds
