"""How an app runs jobs: a worker for a block, or for a whole process."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from klokka.app.parts import Parts
from klokka.core.queues import Queue, in_drain_order
from klokka.errors import InvalidInput
from klokka.runtime.settings import WorkerSettings
from klokka.spi.store import JobStore

if TYPE_CHECKING:  # producers do not pay for what only a worker needs
    from klokka.runtime.worker import Worker


class Working(Parts):
    """Workers of the app's kinds and schedules, with its settings where nothing else is said."""

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
        if not self._registry and not self.schedules:
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
    def served_queues(self) -> tuple[Queue, ...]:
        """The queues that a worker serves by default, in drain order: as given, else those of the kinds handled here."""
        return self._queues or in_drain_order(self._registry.queues)

    def _new_worker(self, store: JobStore, settings: WorkerSettings) -> "Worker":
        from klokka.runtime.worker import Worker

        return Worker(
            store,
            self._registry,
            settings,
            events=self._bus,
            interceptors=self.interceptors,
            schedules=tuple(self.schedules.values()),
        )
