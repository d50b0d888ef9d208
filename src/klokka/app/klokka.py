"""The facade: what a user holds. It wires stores, handlers and workers together and has no logic of its own."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar

from klokka.app import operations
from klokka.app.blocking import BlockingSide
from klokka.app.connection import Connection
from klokka.app.functions import JobFunction
from klokka.app.producer import Producer
from klokka.app.recurring import Recurring
from klokka.app.registry import HandlerOptions, Registry
from klokka.app.schedules import Schedules
from klokka.core.arguments import can_be_called, of_class
from klokka.core.ids import JobId
from klokka.core.jobtypes import JobType
from klokka.core.names import check_kind
from klokka.core.policies import Exponential, RetryPolicy
from klokka.core.queues import Queue, in_drain_order
from klokka.core.records import EnqueueResult, JobDetails, NewJob, RetentionPolicy
from klokka.errors import InvalidInput
from klokka.runtime.bus import EventBus
from klokka.runtime.context import JobContext
from klokka.runtime.handlers import Handler, Interceptor
from klokka.runtime.settings import WorkerSettings
from klokka.spi.store import JobStore
from klokka.spi.transactions import AsyncTransaction, SyncTransaction
from klokka.stores.open import store_of

if TYPE_CHECKING:  # producers do not pay for what only a worker needs
    from klokka.runtime.worker import Worker

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
E = TypeVar("E")

ExecutorName = Literal["loop", "thread", "process"]


class Klokka:
    """An app: a store, the kinds that it knows, and how its workers work.

    Making one opens nothing. It belongs to the event loop that first opens it. At-least-once: a job whose worker is
    lost runs again, so effects must bear it; `current_job()` has the attempt and the fence for that.

    Raises:
        UnknownStore, InvalidInput: the URL or a setting is wrong.
    """

    def __init__(
        self,
        store: str | JobStore,
        *,
        concurrency: int = 10,
        queues: Sequence[Queue | str] | None = None,
        retry: RetryPolicy | None = None,
        lease: timedelta = timedelta(seconds=30),
        grace: timedelta = timedelta(seconds=25),
        retention: RetentionPolicy | None = None,
    ) -> None:
        self._connection = Connection(store_of(store))
        self._blocking = BlockingSide(lambda: self._connection.origin)
        self._bus = EventBus()
        self._producer = Producer(self._connection, self._blocking, self._bus)
        self._registry = Registry(Exponential() if retry is None else retry)
        self._schedules = Schedules(self._connection, self._blocking, self._producer, self._bus)
        self._interceptors: list[Interceptor] = []
        self._queues = None if queues is None else in_drain_order(queues)
        self._settings = WorkerSettings(
            concurrency=concurrency,
            lease=lease,
            grace=grace,
            retention=RetentionPolicy() if retention is None else retention,
        )

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
    def recurring(self) -> Recurring:
        """`app.recurring(id, schedule, request)`, or `@app.recurring(id, schedule)` above a function without parameters."""
        return Recurring(self._schedules, self.job)

    @property
    def schedules(self) -> Schedules:
        """What recurs, by id, and the verbs for it: `trigger_now`, `pause`, `resume`, `states`."""
        return self._schedules

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
            InvalidInput: the kind has no handler here, or does not know a field of the payload, which would be lost.
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

    # Jobs that exist

    async def get(self, id: JobId) -> JobDetails | None:
        """All that is known of a job; None if it is unknown or swept."""
        return await operations.get(await self._connection.opened(), id)

    async def wait(self, id: JobId, *, timeout: timedelta | None = None) -> JobDetails:
        """The job as it ended.

        Raises:
            TimeoutError: it has not ended in time; the job goes on.
            InvalidInput: there is no such job, or none any more.
        """
        return await operations.wait(await self._connection.opened(), id, timeout)

    async def cancel(self, id: JobId) -> bool:
        """Calls a job off unless it has ended, and says whether it did; a running handler is told at its next beat."""
        return await operations.cancel(await self._connection.opened(), id)

    async def requeue(self, id: JobId) -> bool:
        """Runs an ended job again with its attempts counted anew, and says whether it did.

        Raises:
            UniqueConflict: another live job holds its unique key now.
        """
        return await operations.requeue(await self._connection.opened(), id)

    async def delete(self, id: JobId) -> bool:
        """Removes a job whatever its state, and says whether it was there."""
        return await operations.delete(await self._connection.opened(), id)

    def get_sync(self, id: JobId) -> JobDetails | None:
        """`get` from sync code."""
        return self._blocking.call(lambda store: operations.get(store, id), "app.get(…)")

    def wait_sync(self, id: JobId, *, timeout: timedelta | None = None) -> JobDetails:
        """`wait` from sync code."""
        return self._blocking.call(lambda store: operations.wait(store, id, timeout), "app.wait(…)")

    def cancel_sync(self, id: JobId) -> bool:
        """`cancel` from sync code."""
        return self._blocking.call(lambda store: operations.cancel(store, id), "app.cancel(…)")

    def requeue_sync(self, id: JobId) -> bool:
        """`requeue` from sync code."""
        return self._blocking.call(lambda store: operations.requeue(store, id), "app.requeue(…)")

    def delete_sync(self, id: JobId) -> bool:
        """`delete` from sync code."""
        return self._blocking.call(lambda store: operations.delete(store, id), "app.delete(…)")

    # Working, opening, closing

    @asynccontextmanager
    async def worker(
        self,
        *,
        queues: Sequence[Queue | str] | None = None,
        concurrency: int | None = None,
        grace: timedelta | None = None,
    ) -> "AsyncGenerator[Worker]":
        """A running worker for the length of the block; at its end it drains: soft, grace, hand back.

        `queues` None serves the app's, or where it names none, those of its registered kinds; the others None take
        the app's.

        Raises:
            InvalidInput: no kind has a handler, or a setting is wrong.
        """
        settings = self.worker_settings(queues=queues, concurrency=concurrency, grace=grace)
        async with self:
            store = await self._connection.opened()
            worker = self._new_worker(store, settings)
            async with worker:
                yield worker

    def _new_worker(self, store: JobStore, settings: WorkerSettings) -> "Worker":
        from klokka.runtime.worker import Worker

        return Worker(
            store,
            self._registry,
            settings,
            events=self._bus,
            interceptors=self.interceptors,
            schedules=tuple(self._schedules.values()),
        )

    async def run_worker(self, settings: WorkerSettings) -> None:
        """Runs a worker until SIGTERM or SIGINT: the first stops it softly, a second one at once. For a whole process.

        It has a handle of its own, and an outage of the store at its start is waited out.

        Raises:
            StoreError: the store cannot be opened, for another reason than an outage.
        """
        from klokka.runtime.signals import run_until_signal

        store = self.store.new_handle()
        worker = self._new_worker(store, settings)
        try:
            await run_until_signal(worker, to_the_end=True)
        finally:
            await store.close()
            await self.close()

    def worker_settings(
        self,
        *,
        queues: Sequence[Queue | str] | None = None,
        concurrency: int | None = None,
        grace: timedelta | None = None,
    ) -> WorkerSettings:
        """The settings of this app's workers with what is given changed.

        Raises:
            InvalidInput: no kind has a handler and nothing recurs, or a setting is wrong.
        """
        if not self._registry and not self._schedules:
            raise InvalidInput(
                "no kind has a handler, so a worker would have nothing to do. Register one with @app.job or app.handle."
            )
        return replace(
            self._settings,
            queues=self.served_queues if queues is None else in_drain_order(queues),
            concurrency=self._settings.concurrency if concurrency is None else concurrency,
            grace=self._settings.grace if grace is None else grace,
        )

    @property
    def store(self) -> JobStore:
        """The store as it was given, unopened: for `traits`, capabilities, and handles of one's own."""
        return self._connection.origin

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """How each kind that has a handler here is run."""
        return self._registry

    @property
    def interceptors(self) -> tuple[Interceptor, ...]:
        """What wraps every handler, the outermost first."""
        return tuple(self._interceptors)

    @property
    def events(self) -> EventBus:
        """Where what happens is told; `on` is the way to listen."""
        return self._bus

    @property
    def served_queues(self) -> tuple[Queue, ...]:
        """The queues that a worker serves by default, in drain order: as given, else those of the kinds handled here."""
        return self._queues or in_drain_order(self._registry.queues)

    async def opened(self) -> JobStore:
        """The app's open store on the running loop, for the verbs that have no shorthand here.

        Raises:
            MisuseError: the app is open on another event loop.
        """
        return await self._connection.opened()

    @asynccontextmanager
    async def on_store(self, store: JobStore) -> AsyncGenerator[None]:
        """For tests: the app on another store, open for the length of the block.

        Raises:
            MisuseError: the app is open already.
        """
        async with self._connection.replaced_by(store), self:
            yield

    async def close(self) -> None:
        """Closes what was opened, on the loop and behind the sync verbs; a later verb opens it anew. Idempotent."""
        await self._connection.close()
        await asyncio.to_thread(self._blocking.close)

    def close_sync(self) -> None:
        """Closes what the sync verbs opened."""
        self._blocking.close()

    async def __aenter__(self) -> Self:
        await self._connection.enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._connection.leave()
