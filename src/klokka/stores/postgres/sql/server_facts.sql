-- What the server says of itself and of this session. Settings that a role may not see are null.
select
    current_setting('server_version'),
    current_user,
    pg_is_in_recovery(),
    current_setting('fsync', true),
    current_setting('full_page_writes', true),
    current_setting('autovacuum', true),
    current_setting('track_counts', true),
    current_setting('synchronous_commit'),
    (select count(*) from pg_catalog.pg_stat_activity where backend_type = 'client backend'),
    current_setting('max_connections')::bigint
