"""The one connection of a handle that listens, however many wait for hints."""

import asyncio
import logging
import random
from collections.abc import Generator
from contextlib import aclosing, contextmanager, suppress
from typing import Final

import psycopg

from klokka.errors import StoreError
from klokka.stores.postgres.link import Link, connect
from klokka.stores.postgres.setting import Setting

_LOG: Final = logging.getLogger(__name__)
_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 30.0


class Ear:
    """What one subscriber waits on. Hints that come before it looks are heard as one [wakeups.hint]."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._end: Exception | None = None
        self._ended = False

    async def rung(self) -> bool:
        """Returns at the next hint; False when there will be none.

        Raises:
            StoreError: no hint can come this way, and what to change.
        """
        await self._event.wait()
        self._event.clear()
        if self._end is not None:
            raise self._end
        return not self._ended

    def ring(self) -> None:
        self._event.set()

    def end(self, error: Exception | None) -> None:
        self._end, self._ended = error, True
        self._event.set()


class Listener:
    """Listens while somebody waits for hints.

    Every `listen_check` without a notification the server is asked for a word, so that a peer that vanished silently
    is noticed within that and the store's bound. A lost connection is remade, with growing pauses, and then all are rung
    once, since nobody knows what was missed [wakeups.recover].
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._check = setting.listen_check.total_seconds()
        self._patience = setting.bound.total_seconds()
        self._ears: set[Ear] = set()
        self._task: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._lost = False

    @contextmanager
    def heard(self) -> Generator[Ear]:
        """An ear for the length of the block, rung as soon as the connection listens [wakeups.first]."""
        ear = Ear()
        self._ears.add(ear)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="klokka postgres listener")
        elif self._task is self._listening:
            ear.ring()
        try:
            yield ear
        finally:
            self._ears.discard(ear)
            if not self._ears:
                self._stop()

    async def close(self) -> None:
        """Ends every subscription."""
        self._stop()
        if self._ending:
            await asyncio.wait(self._ending)
        self._end(None)

    def _stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
            task.cancel()

    async def _run(self) -> None:
        wait = _FIRST_WAIT
        while True:
            try:
                await self._listen()
            except _Unheard as error:
                self._end(StoreError(str(error)))
                return
            except (StoreError, psycopg.Error, TimeoutError) as error:
                if self._listening is asyncio.current_task():
                    wait = _FIRST_WAIT
                self._tell_lost(error)
            finally:
                if self._listening is asyncio.current_task():
                    self._listening = None
            await asyncio.sleep(wait * random.uniform(0.5, 1.0))
            wait = min(wait * 2, _LONGEST_WAIT)

    async def _listen(self) -> None:
        link = await connect(self._setting, self._setting.listen)
        try:
            async with asyncio.timeout(self._patience):
                await link.connection.execute(f"listen {self._setting.schema.channel}".encode())
            if not link.direct:
                await self._check_pooler(link)
            self._listening = asyncio.current_task()
            self._tell_back()
            self._ring()
            while True:
                async for _ in link.connection.notifies(timeout=self._check, stop_after=1):
                    self._ring()
                async with asyncio.timeout(self._patience):
                    await link.connection.execute(b"select 1")
        finally:
            with suppress(psycopg.Error, OSError):
                await link.close()

    def _tell_lost(self, error: Exception) -> None:
        """Once for each time that they are."""
        if not self._lost:
            _LOG.warning("%s: wakeups are lost (%s); polling goes on. Trying again.", self._setting.where, error)
        self._lost = True

    def _tell_back(self) -> None:
        if self._lost:
            _LOG.warning("%s: wakeups are back", self._setting.where)
        self._lost = False

    async def _check_pooler(self, link: Link) -> None:
        """Returns if a notification from another connection arrives here.

        Raises:
            _Unheard: the pooler gives the session that listens to others.
        """
        sender = await connect(self._setting, self._setting.listen)
        try:
            await sender.connection.execute(f"notify {self._setting.schema.channel}".encode())
        finally:
            await sender.close()
        async with aclosing(link.connection.notifies(timeout=self._patience, stop_after=1)) as arrived:
            async for _ in arrived:
                return
        raise _Unheard(
            f"{self._setting.where}: a pooler in transaction mode stands before the server, and LISTEN does not work "
            f"through it. Give the store a direct connection for it, `?listen=postgresql://…`, or set the pooler's "
            f"pool_mode to session. All else works; idle workers poll."
        )

    def _ring(self) -> None:
        for ear in self._ears:
            ear.ring()

    def _end(self, error: Exception | None) -> None:
        for ear in self._ears:
            ear.end(error)


class _Unheard(Exception):
    """Notifications do not reach the connection that listens."""
