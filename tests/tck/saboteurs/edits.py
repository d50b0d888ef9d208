"""Statements of SQLite that say something else: the slips that are made when such statements are written."""

from tests.tck.saboteurs.registry import edited

edited("claim.due", "ComparesDueTimesStrictly", ("due_at <= ?", "due_at < ?"))
edited(
    "claim.expired", "ComparesEndsOfLeasesStrictly", ("kind = ? and lease_until <= ?", "kind = ? and lease_until < ?")
)
edited(
    "claim.fence",
    "KeepsTheFenceOnTakingOver",
    ("fence = fence + 1,\ndue_at", "fence = fence + (lease_until is null),\ndue_at"),
)
edited("claim.lapses", "CountsEachClaimAsALapse", ("lapses + (lease_until is not null)", "lapses + 1"))
edited(
    "claim.lapses",
    "CountsRetriesAsLapses",
    ("lapses + (lease_until is not null)", "lapses + (lease_until is not null or attempt > 0)"),
)
edited("claim.attempt", "CountsNoTakeover", ("attempt = attempt + 1", "attempt = attempt + (lease_until is null)"))
edited("claim.attempt", "BeginsAtZero", ("attempt = attempt + 1", "attempt = attempt + (fence > 0)"))
edited("claim.order", "OrdersByTheTimeOfEnqueueing", ("due_at as at", "enqueued_at as at"))
edited("claim.order", "OrdersEndedLeasesById", ("lease_until as at", "id as at"))
edited(
    "claim.next-due", "LooksIntoPausedQueues", ("queues.value not in (select queue from klokka_paused_queues)", "true")
)
edited(
    "claim.next-due",
    "LooksOnlyAtOneKind",
    ("json_each(?2) as kinds", "(select value from json_each(?2) limit 1) as kinds"),
)
edited("claim.next-due", "TakesTheLatestTime", ("select min(at)", "select max(at)"))
edited(
    "claim.next-due", "SkipsRunningLeases", ("and lease_until is not null\n", "and lease_until is not null and false\n")
)
edited("progress.held", "KeepsProgressThroughClaims", ("progress = null", "progress = progress"))
edited(
    "progress.held",
    "TakesProgressUnderAnyFence",
    ("where id = ?2 and fence = ?3 and", "where id = ?2 and fence > -?3 and"),
)
edited("progress.held", "TakesProgressOfWhatHasEnded", ("fence = ?3 and status = 'running'", "fence = ?3"))
edited("heartbeat.extends", "SetsTheEndWhateverItWas", ("max(lease_until, ?1)", "?1"))
edited("heartbeat.extends", "AddsToTheOldEnd", ("max(lease_until, ?1)", "lease_until + (?1 - ?5)"))
edited("heartbeat.held", "RevivesWhatHasEnded", ("and lease_until > ?5", "and lease_until > -?5"))
edited(
    "heartbeat.held",
    "HoldsAtTheInstantOfTheEnd",
    ("holder = ?4 and lease_until > ?5", "holder = ?4 and lease_until >= ?5"),
)
edited("heartbeat.held", "AsksNotWhoHolds", ("and holder = ?4", "and holder is not ?4 || '!'"))
edited(
    "heartbeat.held",
    "AsksNotForTheFence",
    (
        "id = ?2 and fence = ?3 and status = 'running' and h",
        "id = ?2 and fence >= ?3 - 1000 and status = 'running' and h",
    ),
)
edited("heartbeat.quiet", "BumpsTheFence", ("set lease_until = max", "set fence = fence + 1, lease_until = max"))
edited("heartbeat.quiet", "MovesTheTimeOfTheRun", ("set lease_until = max", "set run_at = ?1, lease_until = max"))
edited("transition.cas", "ComparesTimesToTheSecond", ("due_at = :from_time", "due_at / 1000000 = :from_time / 1000000"))
edited("transition.cas", "ComparesNoTimes", ("due_at = :from_time", "true"))
edited("transition.cas", "SettlesWhatHasSettled", ("and +status = 'running' and fence = ?4", "and fence = ?4"))
edited(
    "transition.fence",
    "TakesLowerFencesToo",
    ("fence = :fence", "fence >= :fence"),
    ("and fence = ?4", "and fence >= ?4"),
)
edited(
    "transition.fence",
    "RefusesSettlementsThatAreLate",
    ("status = 'running' and fence = ?4", "status = 'running' and fence = ?4 and lease_until > ?2"),
)
edited(
    "transition.fence", "ComparesFencesOfRunningJobsAlone", ("fence = :fence", "fence = :fence or status <> 'running'")
)
edited(
    "transition.times",
    "KeepsTheLeaseOfWhatHasEnded",
    ("set status = ?1, terminal_at = ?2, lease_until = null, holder = null", "set status = ?1, terminal_at = ?2"),
    ("lease_until = null,\nholder = null,\nterminal_at = :terminal_at", "terminal_at = :terminal_at"),
)
edited(
    "transition.times",
    "ForgetsWhenItEnded",
    ("terminal_at = :terminal_at", "terminal_at = case when :terminal_at is null then null else enqueued_at end"),
)
edited("transition.refund", "RefundsNothing", ("attempt - :refund", "attempt"))
edited(
    "transition.refund", "RefundsTheLapseToo", ("then 0 else lapses end", "then 0 else max(lapses - :refund, 0) end")
)
edited(
    "transition.restart",
    "KeepsTheAttempts",
    ("case when :restart then 0 else attempt - :refund end", "attempt - :refund"),
)
edited("transition.restart", "KeepsTheLapses", ("case when :restart then 0 else lapses end", "lapses"))
edited(
    "transition.restart",
    "ForgetsTheErrorOfTheFirstLife",
    (
        "error_type = coalesce(:error_type, error_type)",
        "error_type = case when :restart then null else coalesce(:error_type, error_type) end",
    ),
)
edited(
    "transition.restart",
    "StartsTheFenceAgain",
    ("status = :to,", "status = :to, fence = case when :restart then 0 else fence end,"),
)
edited(
    "transition.restart",
    "CallsItEnqueuedJustNow",
    ("status = :to,", "status = :to, enqueued_at = case when :restart then :due_at else enqueued_at end,"),
)
edited(
    "transition.restart",
    "CountsAnewOnEveryMove",
    (
        "case when :restart then 0 else attempt - :refund end",
        "case when :restart or :to = 'enqueued' then 0 else attempt - :refund end",
    ),
)
edited(
    "transition.error",
    "ForgetsTheErrorWithTheNextMove",
    ("error_type = coalesce(:error_type, error_type)", "error_type = :error_type"),
)
edited(
    "transition.error",
    "CountsTheAttemptAfterTheRefund",
    ("coalesce(:error_attempt, attempt)", "coalesce(:error_attempt, attempt + 1)"),
)
edited(
    "claim.scheduled-for",
    "TakesTheSnoozeForThePlan",
    ("status = :to,", "status = :to, scheduled_for = coalesce(:run_at, scheduled_for),"),
)
edited("claim.fence", "RequeuesWithAFreshFence", ("lapses = 0\nwhere id = ?2", "lapses = 0, fence = 0\nwhere id = ?2"))
edited(
    "operate.requeue", "RequeuesWithItsOldCounts", ("terminal_at = null, attempt = 0, lapses = 0", "terminal_at = null")
)
edited(
    "operate.requeue",
    "RequeuesWhatRuns",
    ("where id = ?2 and terminal_at is not null", "where id = ?2 and status <> 'enqueued'"),
    ("terminal_at = null, attempt", "terminal_at = null, lease_until = null, holder = null, attempt"),
)
edited("operate.cancel", "CancelsWhatHasEnded", ("where id = ?2 and terminal_at is null", "where id = ?2"))
edited(
    "operate.cancel",
    "CancelsWaitingJobsAlone",
    ("where id = ?2 and terminal_at is null", "where id = ?2 and due_at is not null"),
)
edited(
    "operate.delete",
    "DeletesWhatHasEndedAlone",
    ("delete from klokka_jobs\nwhere id = ?1", "delete from klokka_jobs\nwhere id = ?1 and terminal_at is not null"),
)
edited(
    "operate.schedule",
    "LeavesTheFenceOnAPause",
    ("set paused = ?1, lease_until = null, holder = null, fence = fence + 1", "set paused = ?1"),
)
edited(
    "operate.schedule",
    "LeavesTheFenceOnAResumption",
    (
        "lease_until = null, holder = null, fence = fence + 1\nwhere id = ?2 and paused",
        "lease_until = lease_until\nwhere id = ?2 and paused",
    ),
)
edited(
    "operate.schedule",
    "ResumesAtTheOldTime",
    ("set paused = null, next_fire_at = ?1,", "set paused = null, next_fire_at = coalesce(next_fire_at, ?1),"),
)
edited("operate.schedule", "FiresThroughThePause", ("and paused is null\n", ""))
edited("sweep.retention", "SweepsWhatIsExactlyAsOld", ("terminal_at < ?2", "terminal_at <= ?2"))
edited("sweep.retention", "SweepsByTheTimeOfEnqueueing", ("terminal_at < ?2", "enqueued_at < ?2"))
edited(
    "sweep.retention",
    "SweepsLiveKeys",
    ("where expires_at <= ?1\norder by", "where expires_at <= ?1 + 3600000000\norder by"),
)
edited("sweep.retention", "SweepsNoKeys", ("where expires_at <= ?1\norder by", "where expires_at <= -?1\norder by"))
edited(
    "sweep.bounded", "SweepsMoreThanItsLimit", ("order by terminal_at\nlimit ?3", "order by terminal_at\nlimit ?3 + 1")
)
edited("sweep.bounded", "NeverSaysThatMoreIsLeft", ("select exists (", "select 0 * exists ("))
edited("sweep.bounded", "AlwaysSaysThatMoreIsLeft", ("select exists (", "select 1 + exists ("))
edited(
    "enqueue.ids",
    "DealsIdsByTheHighestThatIsLeft",
    ("coalesce((select seq from sqlite_sequence where name = 'klokka_jobs'), 0)", "0"),
)
edited(
    "enqueue.unique-life",
    "HoldsKeysOfWaitingJobsAlone",
    ("where unique_key = ?1 and terminal_at is null", "where unique_key = ?1 and due_at is not null"),
)
edited(
    "enqueue.unique",
    "ComparesKeysWithoutCase",
    ("where unique_key = ?1 and terminal_at is null", "where lower(unique_key) = lower(?1) and terminal_at is null"),
)
edited("schedule.upsert-same", "WritesTheSameAgain", ("where fingerprint <> excluded.fingerprint", "where true"))
edited(
    "schedule.upsert-changed",
    "LeavesTheFenceAlone",
    ("holder = null,\nfence = fence + 1\nwhere fingerprint", "holder = null\nwhere fingerprint"),
)
edited(
    "schedule.upsert-changed",
    "LeavesTheLeaseAlone",
    ("next_fire_at = excluded.next_fire_at,\nlease_until = null,", "next_fire_at = excluded.next_fire_at,"),
)
edited("schedule.upsert-changed", "LeavesTheNextFireAlone", ("next_fire_at = excluded.next_fire_at,", ""))
edited("schedule.upsert-changed", "LeavesTheDescriptionAlone", ("description = excluded.description,", ""))
edited(
    "schedule.upsert-keeps",
    "UnpausesWhatChanged",
    ("fingerprint = excluded.fingerprint,", "fingerprint = excluded.fingerprint, paused = null,"),
)
edited("schedule.due", "FiresAnInstantLate", ("and next_fire_at <= ?2", "and next_fire_at < ?2"))
edited("schedule.due", "FiresInAnyOrder", ("order by next_fire_at, id", "order by id"))
edited(
    "schedule.due",
    "FiresUnderTheSameFence",
    ("holder = ?2, fence = fence + 1", "holder = ?2"),
    ("next_fire_at, fence + 1", "next_fire_at, fence"),
)
edited("schedule.due", "FiresBeforeTheLeaseEnds", ("lease_until is null or lease_until <= ?2", "?2 is not null"))
edited(
    "schedule.crash",
    "WaitsAnInstantAfterTheLease",
    ("lease_until is null or lease_until <= ?2", "lease_until is null or lease_until < ?2"),
)
edited(
    "schedule.complete",
    "UsesNoFenceUp",
    (
        "holder = null, fence = fence + 1\nwhere id = ?3 and fence = ?4 and lease_until is not null",
        "holder = null\nwhere id = ?3 and fence = ?4",
    ),
)
edited(
    "schedule.complete", "NotesThePlanForTheFire", ("last_fired_at = ?2", "last_fired_at = coalesce(next_fire_at, ?2)")
)
edited(
    "schedule.complete",
    "NeverGoesDormant",
    ("set next_fire_at = ?1, last", "set next_fire_at = coalesce(?1, next_fire_at), last"),
)
edited(
    "schedule.fence",
    "CompletesUnderAnyFence",
    ("where id = ?3 and fence = ?4 and", "where id = ?3 and fence >= ?4 - 9 and"),
)
edited("schedule.fence", "CompletesWithoutALease", ("and fence = ?4 and lease_until is not null", "and fence = ?4"))
edited(
    "schedule.fence",
    "CompletesUnderAnOpenLeaseAlone",
    ("and fence = ?4 and lease_until is not null", "and fence = ?4 and lease_until > ?2"),
)
edited(
    "query.counts",
    "CountsWaitingJobsAlone",
    ("from klokka_jobs\ngroup by status", "from klokka_jobs\nwhere terminal_at is null\ngroup by status"),
)
edited("query.order", "ListsByTheTimeOfTheRun", ("order by id desc", "order by run_at desc"))
edited(
    "query.schedules",
    "ListsSchedulesByTheirTime",
    ("from klokka_schedules\norder by id", "from klokka_schedules\norder by next_fire_at"),
)
edited(
    "query.depths",
    "CountsWhatIsDueNowAsWaiting",
    ("where due_at <= ?1) as due", "where due_at < ?1) as due"),
    ("where due_at > ?1) as waiting", "where due_at >= ?1) as waiting"),
)
edited(
    "query.depths",
    "HidesPausedQueuesWithoutJobs",
    (
        "select queue, 0, 0, 0, null\nfrom klokka_paused_queues",
        "select queue, 0, 0, 0, null\nfrom klokka_paused_queues\nwhere false",
    ),
)
edited("fleet.beat", "LivesAtTheInstantOfItsEnd", ("live_until > ?1 as live", "live_until >= ?1 as live"))
edited(
    "fleet.beat",
    "RefusesTheSecondBeat",
    ("last_beat = excluded.last_beat,\nlive_until = excluded.live_until", "last_beat = last_beat"),
)
edited("fleet.pause", "KeepsTheFirstReason", ("set reason = excluded.reason", "set reason = reason"))
edited("key.once", "HoldsKeysAtTheirTtl", ("where expires_at <= ?5", "where expires_at < ?5"))
edited(
    "key.once",
    "ClaimsTheSameKeyInAnyScope",
    (
        "values (?1, ?2, ?3, ?4)\non conflict (scope, key)",
        "values (substr(?1, 1, 0), ?2, ?3, ?4)\non conflict (scope, key)",
    ),
)
edited(
    "key.owner",
    "ReleasesForAnyToken",
    ("scope = ?1 and key = ?2 and token = ?3", "scope = ?1 and key = ?2 and token is not ?3 || '!'"),
)
edited("key.owner", "ReleasesClaimsThatAreOver", ("token = ?3 and expires_at > ?4", "token = ?3 and expires_at > -?4"))
edited(
    "key.owner", "ReleasesAtTheInstantOfTheEnd", ("token = ?3 and expires_at > ?4", "token = ?3 and expires_at >= ?4")
)
edited(
    "lease.one",
    "HoldsTheNameAtItsEnd",
    ("owner = excluded.owner or lease_until <= ?4", "owner = excluded.owner or lease_until < ?4"),
)
edited("lease.one", "KeepsTheFenceAfterTheEnd", ("then fence else fence + 1 end", "then fence else fence end"))
edited(
    "lease.one",
    "KeepsTheFenceOfTheSameOwner",
    ("then fence else fence + 1 end", "then fence when owner = excluded.owner then fence else fence + 1 end"),
)
edited("lease.one", "RenewsWithAnotherFence", ("case when lease_until > ?4 then fence else fence + 1 end", "fence + 1"))
edited(
    "lease.one",
    "LetsAnyoneRelease",
    ("where name = ?1 and owner = ?2 and", "where name = ?1 and owner is not ?2 || '!' and"),
)
edited("lease.cursor", "MovesToWhereItStands", ("excluded.stands_at > stands_at", "excluded.stands_at >= stands_at"))
edited("lease.cursor", "MovesBackwards", ("where excluded.stands_at > stands_at", "where true"))
edited("lease.cursor", "MovesAfterTheEnd", ("fence = ?4 and lease_until > ?5", "fence = ?4 and lease_until > -?5"))
edited(
    "lease.cursor", "MovesAtTheInstantOfTheEnd", ("fence = ?4 and lease_until > ?5", "fence = ?4 and lease_until >= ?5")
)
edited("lease.cursor", "MovesUnderAnyFence", ("where name = ?3 and fence = ?4", "where name = ?3 and fence >= ?4 - 9"))
edited("query.order", "ListsByTheTimeOfEnqueueing", ("order by id desc", "order by enqueued_at desc"))
