"""Klokka: a durable job queue and scheduler that lives in the database you already run."""

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
