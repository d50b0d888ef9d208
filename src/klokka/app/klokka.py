"""The facade: what a user holds. Its parts stand in `parts`, what they do in `operating` and `working`, the rest here."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from klokka.app.functions import JobFunction
from klokka.app.operating import Operating
from klokka.app.registry import HandlerOptions
from klokka.app.working import Working
from klokka.core.arguments import can_be_called, of_class
from klokka.core.jobtypes import JobType
from klokka.core.names import check_kind
from klokka.core.policies import RetryPolicy
from klokka.core.records import EnqueueResult, NewJob
from klokka.runtime.context import JobContext
from klokka.runtime.handlers import ExecutorName, Interceptor
from klokka.spi.transactions import AsyncTransaction, SyncTransaction

if TYPE_CHECKING:  # an app without schedules does not pay for them
    from klokka.app.recurring import Recurring

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
E = TypeVar("E")


class Klokka(Operating, Working):
    """An app: a store, the kinds that it knows, and how its workers work.

    Making one opens nothing. It belongs to the event loop that first opens it. At-least-once: a job whose worker is
    lost runs again, so effects must bear it; `current_job()` has the attempt and the fence for that.

    Raises:
        UnknownStore, InvalidInput: the URL or a setting is wrong.
    """

    # Kinds and their handlers

    def job(
        self,
        kind: str,
        *,
        queue: str = "default",
        retry: RetryPolicy | None = None,
        timeout: timedelta | None = None,
        executor: ExecutorName | None = None,
        max_lapses: int = 3,
    ) -> Callable[[Callable[P, R]], JobFunction[P, R]]:
        """Makes a function a kind of job, its parameters the payload. Async runs on the loop, sync in a thread.

        Raises:
            InvalidInput: or one of its kinds: a bad or taken kind, parameters that no payload can carry.
        """
        check_kind(kind)  # here and not below, since `@app.job` without a kind never comes there
        options = HandlerOptions(retry=retry, timeout=timeout, executor=executor, max_lapses=max_lapses)

        def register(function: Callable[P, R]) -> JobFunction[P, R]:
            job = JobFunction(function, kind, queue, self)
            self._registry.add_function(job, options)
            return job

        return register

    def handle(
        self,
        job_type: JobType[T],
        handler: Callable[[T], Any] | Callable[[T, JobContext], Any],
        *,
        retry: RetryPolicy | None = None,
        timeout: timedelta | None = None,
        executor: ExecutorName | None = None,
        max_lapses: int = 3,
    ) -> None:
        """Gives a kind its handler: a function or bound method of `(payload)` or `(payload, job)`.

        Raises:
            InvalidInput: the kind has one already, or the handler takes other arguments.
        """
        options = HandlerOptions(retry=retry, timeout=timeout, executor=executor, max_lapses=max_lapses)
        self._registry.add_handler(job_type, handler, options)

    @property
    def recurring(self) -> "Recurring":
        """`app.recurring(id, schedule, request)`, or `@app.recurring(id, schedule)` above a function without parameters."""
        from klokka.app.recurring import Recurring

        return Recurring(self.schedules, self.job)

    def on(self, event: type[E]) -> Callable[[Callable[[E], T]], Callable[[E], T]]:
        """Makes a function a listener to one class of event, or to all below it. A listener never holds up a job.

        Raises:
            InvalidInput: `event` is no class, or the listener cannot be called.
        """
        of_class("an event", event, type, "Give its class, such as klokka.DeadLettered.")

        def listen(listener: Callable[[E], T]) -> Callable[[E], T]:
            can_be_called("a listener", listener, "Give a function of the event.")
            self._bus.on(event, listener)
            return listener

        return listen

    def intercept(self, interceptor: Interceptor) -> Interceptor:
        """Wraps every handler in `async def interceptor(job, call)`; the first one given is the outermost.

        Raises:
            InvalidInput: it cannot be called.
        """
        can_be_called("an interceptor", interceptor, "Give an async function of (job, call).")
        self._interceptors.append(interceptor)
        return interceptor

    # Enqueueing

    def request(self, kind: str, payload: str) -> NewJob:
        """A request for a kind by its name, its payload as JSON text, for code that knows kinds at run time only.

        Raises:
            InvalidInput: the kind has no handler here, or a field of the payload would be lost: one that the kind does
                not know, or one given twice.
            PayloadUndecodable: the text does not fit the kind.
        """
        return self._registry.request(kind, payload)

    async def enqueue(self, request: NewJob, *, tx: AsyncTransaction | None = None) -> EnqueueResult:
        """Stores one job, durably when this returns; with `tx` it exists if and only if that transaction commits.

        A unique key that a live job holds gives that job's id, with `created` false.

        Raises:
            InvalidInput: or one of its kinds; nothing was written.
            StoreUnavailable, Busy: nothing was written; try again.
            UnknownOutcome: it may have been written; with a unique key a repetition is safe.
        """
        return (await self._producer.enqueue([request], tx))[0]

    async def enqueue_many(
        self, requests: Iterable[NewJob], *, tx: AsyncTransaction | None = None
    ) -> list[EnqueueResult]:
        """Stores all of the jobs or none, one result each in order; see `enqueue`."""
        return await self._producer.enqueue(requests, tx)

    def enqueue_sync(self, request: NewJob, *, tx: SyncTransaction | None = None) -> EnqueueResult:
        """The same from sync code; with `tx` wholly in the caller's thread.

        Raises:
            MisuseError: this thread runs an event loop.
        """
        return self._producer.enqueue_sync([request], tx)[0]

    def enqueue_many_sync(
        self, requests: Iterable[NewJob], *, tx: SyncTransaction | None = None
    ) -> list[EnqueueResult]:
        """Stores all of the jobs or none, from sync code; see `enqueue_sync`."""
        return self._producer.enqueue_sync(requests, tx)
