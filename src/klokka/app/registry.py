"""Which kinds this app can run, and how."""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from klokka.app.functions import JobFunction, is_async, takes_job
from klokka.core.arguments import can_be_called, count, of_class
from klokka.core.instants import positive
from klokka.core.jobtypes import JobType
from klokka.core.outcomes import Outcome
from klokka.core.policies import RetryPolicy, check_policy
from klokka.core.records import NewJob
from klokka.errors import InvalidInput
from klokka.runtime.context import JobContext
from klokka.runtime.handlers import Executor, ExecutorName, Handler

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class OneArgument(Generic[P]):
    """Calls a handler that takes `(payload)`. A class and no lambda, so that it travels to other processes."""

    handler: Callable[[P], Any]

    def __call__(self, payload: P, job: JobContext) -> Awaitable[Outcome] | Outcome:  # noqa: ARG002
        result: Awaitable[Outcome] | Outcome = self.handler(payload)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerOptions:
    """What may be said of a kind where it is handled; None takes the app's or the natural default."""

    retry: RetryPolicy | None = None
    timeout: timedelta | None = None
    executor: ExecutorName | None = None
    max_lapses: int = 3


class Registry(Mapping[str, Handler]):
    """The handlers by kind, and the queues that they are known to use. A kind is registered once."""

    def __init__(self, retry: RetryPolicy) -> None:
        self._retry = check_policy(retry)
        self._handlers: dict[str, Handler] = {}
        self._kinds: dict[str, JobFunction[..., Any] | JobType[Any]] = {}

    def __getitem__(self, kind: str) -> Handler:
        return self._handlers[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._handlers)

    def __len__(self) -> int:
        return len(self._handlers)

    @property
    def queues(self) -> tuple[str, ...]:
        """Where the registered kinds go by default, `default` first."""
        return tuple(dict.fromkeys(("default", *sorted(kind.queue for kind in self._kinds.values()))))

    def add_function(self, job: JobFunction[..., Any], options: HandlerOptions) -> None:
        """Registers a decorated function.

        Raises:
            InvalidInput: the kind has a handler already, or an option does not fit the function.
        """
        self._add(job, job.function, job.run, options)

    def add_handler(self, job_type: JobType[P], handler: Callable[..., Any], options: HandlerOptions) -> None:
        """Registers a handler of `(payload)` or `(payload, job)`.

        Raises:
            InvalidInput: see `add_function`; or it takes other arguments.
        """
        of_class("a kind", job_type, JobType, "Give a klokka.JobType(kind, payload class).")
        can_be_called(f"the handler of {job_type.kind!r}", handler, "Give a function of (payload) or (payload, job).")
        run = handler if takes_job(handler) else OneArgument(handler)
        self._add(job_type, handler, run, options)

    def request(self, kind: str, payload: str) -> NewJob:
        """A request for a kind by its name, its payload as text; see `Klokka.request`."""
        known = self._kinds.get(kind)
        if known is None:
            raise InvalidInput(f"kind {kind!r} has no handler here. It has: {', '.join(sorted(self)) or 'none'}.")
        return known.request(payload)

    def _add(
        self,
        named: JobFunction[..., Any] | JobType[Any],
        function: Callable[..., Any],
        run: Callable[[Any, JobContext], Awaitable[Outcome] | Outcome],
        options: HandlerOptions,
    ) -> None:
        kind = named.kind
        if kind in self._handlers:
            raise InvalidInput(f"kind {kind!r} has a handler already. A kind is the name of one thing; choose another.")
        if options.timeout is not None:
            positive(options.timeout, f"timeout of {kind!r}")
        count(f"max_lapses of {kind!r}", options.max_lapses, least=0)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidInput(f"the handler of {kind!r} has a yield in it, so calling it would run none of it.")
        handler = Handler(
            kind=kind,
            decode=named.decode,
            run=run,
            executor=_executor(kind, function, options.executor),
            retry=self._retry if options.retry is None else check_policy(options.retry),
            timeout=options.timeout,
            max_lapses=options.max_lapses,
        )
        if handler.executor is Executor.PROCESS:
            from klokka.runtime.processes import check_portable

            check_portable(handler)
        self._handlers[kind] = handler
        self._kinds[kind] = named


def _executor(kind: str, function: Callable[..., Any], named: str | None) -> Executor:
    natural = Executor.LOOP if is_async(function) else Executor.THREAD
    if named is None:
        return natural
    try:
        chosen = Executor(named)
    except ValueError:
        raise InvalidInput(f"executor {named!r} of {kind!r} is unknown. Use 'loop', 'thread' or 'process'.") from None
    if (chosen is Executor.LOOP) != (natural is Executor.LOOP):
        sort = "async" if natural is Executor.LOOP else "sync"
        raise InvalidInput(
            f"executor {named!r} does not fit {kind!r}, which is {sort}. Async handlers run on the loop, "
            "sync ones in a thread or a process."
        )
    return chosen
