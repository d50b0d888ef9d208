-- [tx.hands-off] $1 what bound_waits gave.
select set_config('lock_timeout', $1::text, true)
