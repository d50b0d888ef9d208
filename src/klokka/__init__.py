"""Klokka: a durable job queue and scheduler that lives in the database you already run.

Names are imported when they are first used, so that the command line does not pay for what it does not need.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from klokka.app.functions import JobFunction
    from klokka.app.klokka import Klokka
    from klokka.core.events import (
        Cancelled,
        DeadLettered,
        Ended,
        Enqueued,
        Failed,
        Fired,
        JobEvent,
        LeaseLost,
        LoopBlocked,
        Misfired,
        Snoozed,
        Started,
        Succeeded,
    )
    from klokka.core.ids import JobId
    from klokka.core.jobtypes import JobType
    from klokka.core.outcomes import Cancel, Outcome, Snooze
    from klokka.core.policies import RetryPolicy, exponential, intervals
    from klokka.core.queues import Queue
    from klokka.core.records import EnqueueResult, JobDetails, NewJob, RetentionPolicy
    from klokka.core.states import JobStatus
    from klokka.errors import (
        Busy,
        InvalidInput,
        JobTimeout,
        KlokkaError,
        NotRetryable,
        StoreError,
        StoreUnavailable,
        UniqueConflict,
        UnknownOutcome,
        WorkerLost,
    )
    from klokka.runtime.context import JobContext, current_job
    from klokka.runtime.handlers import Interceptor
    from klokka.schedules.calendars import (
        daily,
        last_business_day,
        last_day,
        last_weekday,
        monthly,
        nth_business_day,
        nth_weekday,
        weekly,
        yearly,
    )
    from klokka.schedules.cron import cron
    from klokka.schedules.day_rules import LAST_BUSINESS_DAY, LAST_DAY
    from klokka.schedules.interval import every
    from klokka.schedules.misfire import CatchUp, FireOnce, Skip
    from klokka.schedules.weekdays import FRI, MON, SAT, SUN, THU, TUE, WED

__all__ = [  # noqa: RUF022  plainly sorted, capitals first
    "Busy",
    "Cancel",
    "Cancelled",
    "CatchUp",
    "DeadLettered",
    "Ended",
    "EnqueueResult",
    "Enqueued",
    "FRI",
    "Failed",
    "FireOnce",
    "Fired",
    "Interceptor",
    "InvalidInput",
    "JobContext",
    "JobDetails",
    "JobEvent",
    "JobFunction",
    "JobId",
    "JobStatus",
    "JobTimeout",
    "JobType",
    "Klokka",
    "KlokkaError",
    "LAST_BUSINESS_DAY",
    "LAST_DAY",
    "LeaseLost",
    "LoopBlocked",
    "MON",
    "Misfired",
    "NewJob",
    "NotRetryable",
    "Outcome",
    "Queue",
    "RetentionPolicy",
    "RetryPolicy",
    "SAT",
    "SUN",
    "Skip",
    "Snooze",
    "Snoozed",
    "Started",
    "StoreError",
    "StoreUnavailable",
    "Succeeded",
    "THU",
    "TUE",
    "UniqueConflict",
    "UnknownOutcome",
    "WED",
    "WorkerLost",
    "cron",
    "current_job",
    "daily",
    "every",
    "exponential",
    "intervals",
    "last_business_day",
    "last_day",
    "last_weekday",
    "monthly",
    "nth_business_day",
    "nth_weekday",
    "weekly",
    "yearly",
]

_HOMES: Final = {
    "klokka.app.functions": ("JobFunction",),
    "klokka.app.klokka": ("Klokka",),
    "klokka.core.events": (
        "Cancelled",
        "DeadLettered",
        "Ended",
        "Enqueued",
        "Failed",
        "Fired",
        "JobEvent",
        "LeaseLost",
        "LoopBlocked",
        "Misfired",
        "Snoozed",
        "Started",
        "Succeeded",
    ),
    "klokka.core.ids": ("JobId",),
    "klokka.core.jobtypes": ("JobType",),
    "klokka.core.outcomes": ("Cancel", "Outcome", "Snooze"),
    "klokka.core.policies": ("RetryPolicy", "exponential", "intervals"),
    "klokka.core.queues": ("Queue",),
    "klokka.core.records": ("EnqueueResult", "JobDetails", "NewJob", "RetentionPolicy"),
    "klokka.core.states": ("JobStatus",),
    "klokka.errors": (
        "Busy",
        "InvalidInput",
        "JobTimeout",
        "KlokkaError",
        "NotRetryable",
        "StoreError",
        "StoreUnavailable",
        "UniqueConflict",
        "UnknownOutcome",
        "WorkerLost",
    ),
    "klokka.runtime.context": ("JobContext", "current_job"),
    "klokka.runtime.handlers": ("Interceptor",),
    "klokka.schedules.calendars": (
        "daily",
        "last_business_day",
        "last_day",
        "last_weekday",
        "monthly",
        "nth_business_day",
        "nth_weekday",
        "weekly",
        "yearly",
    ),
    "klokka.schedules.cron": ("cron",),
    "klokka.schedules.day_rules": ("LAST_BUSINESS_DAY", "LAST_DAY"),
    "klokka.schedules.interval": ("every",),
    "klokka.schedules.misfire": ("CatchUp", "FireOnce", "Skip"),
    "klokka.schedules.weekdays": ("FRI", "MON", "SAT", "SUN", "THU", "TUE", "WED"),
}

if not TYPE_CHECKING:  # a checker that saw `__getattr__` would accept every name

    def __getattr__(name: str) -> Any:
        for home, names in _HOMES.items():
            if name in names:
                globals()[name] = found = getattr(importlib.import_module(home), name)
                return found
        raise AttributeError(f"module 'klokka' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
