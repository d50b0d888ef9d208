"""What a worker runs for a kind."""

import enum
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from klokka.core.outcomes import Outcome
from klokka.core.policies import Exponential, RetryPolicy
from klokka.runtime.context import JobContext

Interceptor = Callable[[JobContext, Callable[[], Awaitable[Outcome]]], Awaitable[Outcome]]
"""Wraps a handler: `async def interceptor(job, call)`, which awaits `call()` and returns its outcome."""


class Executor(enum.StrEnum):
    """Where a handler runs."""

    LOOP = "loop"
    THREAD = "thread"
    PROCESS = "process"


ExecutorName = Literal["loop", "thread", "process"]
"""The same as users write it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """How one kind is run. `run` takes what `decode` made of the payload.

    On `LOOP` the result of `run` is awaited; elsewhere it is the outcome itself. `timeout` None is none, since its
    lease is renewed for as long as a job takes.
    """

    kind: str
    decode: Callable[[str], Any]
    run: Callable[[Any, JobContext], Awaitable[Outcome] | Outcome]
    executor: Executor
    retry: RetryPolicy = field(default_factory=Exponential)
    timeout: timedelta | None = None
    max_lapses: int = 3
    """A job that was lost with its worker more often than this goes to the dead letters unstarted."""
