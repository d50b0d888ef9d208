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
        Enqueued,
        Failed,
        Fired,
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
    from klokka.core.policies import exponential, intervals
    from klokka.core.queues import Queue
    from klokka.core.records import EnqueueResult, JobDetails, NewJob, RetentionPolicy
    from klokka.errors import KlokkaError, NotRetryable
    from klokka.runtime.context import JobContext, current_job

__all__ = [
    "Cancel",
    "Cancelled",
    "DeadLettered",
    "EnqueueResult",
    "Enqueued",
    "Failed",
    "Fired",
    "JobContext",
    "JobDetails",
    "JobFunction",
    "JobId",
    "JobType",
    "Klokka",
    "KlokkaError",
    "LeaseLost",
    "LoopBlocked",
    "Misfired",
    "NewJob",
    "NotRetryable",
    "Outcome",
    "Queue",
    "RetentionPolicy",
    "Snooze",
    "Snoozed",
    "Started",
    "Succeeded",
    "current_job",
    "exponential",
    "intervals",
]

_HOMES: Final = {
    "klokka.app.functions": ("JobFunction",),
    "klokka.app.klokka": ("Klokka",),
    "klokka.core.events": (
        "Cancelled",
        "DeadLettered",
        "Enqueued",
        "Failed",
        "Fired",
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
    "klokka.core.policies": ("exponential", "intervals"),
    "klokka.core.queues": ("Queue",),
    "klokka.core.records": ("EnqueueResult", "JobDetails", "NewJob", "RetentionPolicy"),
    "klokka.errors": ("KlokkaError", "NotRetryable"),
    "klokka.runtime.context": ("JobContext", "current_job"),
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
