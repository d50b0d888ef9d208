-- Lists of one queue or kind find here what has ended, newest first; what is live stands in jobs_due and jobs_leased.
-- A job enters it once, when it ends.
create index jobs_ended_kind on {schema}.jobs (queue, kind, id) where terminal_at is not null;
