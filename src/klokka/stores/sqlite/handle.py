"""The life of a handle: opening, closing, further handles, and who may use it."""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from typing import Final, Self, TypeVar

from klokka.core.clocks import Clock
from klokka.core.instants import MICROSECOND, positive
from klokka.core.limits import Limits
from klokka.errors import InvalidInput
from klokka.spi.life import Traits
from klokka.stores._belonging import check_here, open_here
from klokka.stores._clock import system_clock
from klokka.stores.sqlite.durability import SURVIVES, Durability
from klokka.stores.sqlite.patience import Patience
from klokka.stores.sqlite.session import Session
from klokka.stores.sqlite.setting import Setting
from klokka.stores.sqlite.transaction import Transaction

T = TypeVar("T")

FIVE_SECONDS: Final = timedelta(seconds=5)


class Handle:
    """Access to one file from one event loop [life.open]."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Clock = system_clock,
        durability: Durability = Durability.MACHINE,
        busy_bound: timedelta = FIVE_SECONDS,
        limits: Limits | None = None,
    ) -> None:
        """A handle on the database at `path`, which `open` makes if it is not there.

        `busy_bound` is how long a verb waits for another connection's writing before it raises `Busy`.

        Raises:
            InvalidInput: the path is empty or names a database in memory, or the bound is not longer than nothing.
        """
        given = os.fspath(path)
        if not given or given == ":memory:" or "\0" in given:
            raise InvalidInput(f"{given!r} is not the path of a file. For a store in memory use the URL memory:.")
        self._setting = Setting(
            path=os.path.realpath(given),
            clock=clock,
            durability=durability,
            patience=Patience(positive(busy_bound, "busy_bound").total_seconds()),
        )
        self._traits = Traits(
            name="sqlite",
            version=sqlite3.sqlite_version,
            resolution=MICROSECOND,
            bound=busy_bound,
            survives=SURVIVES[durability],
            limits=limits or Limits(),
        )
        self._session: Session | None = None

    @property
    def path(self) -> str:
        """The real path of the file."""
        return self._setting.path

    @property
    def traits(self) -> Traits:
        """What the store states of itself."""
        return self._traits

    async def open(self) -> None:
        """Makes the handle usable on the running loop, migrating the schema where that is due [life.open].

        A closed handle may be opened again, on another loop too.

        Raises:
            SchemaMismatch: the file is newer than this code, foreign or damaged.
            StoreUnavailable: it cannot be reached; StoreReadOnly, StoreFull: it cannot be written.
            MisuseError: it is open on another loop or in another process.
        """
        session = self._session
        if session is None:
            session = self._session = Session(self._setting)
        else:
            check_here(session, self.path)
        try:
            await session.open()
        except BaseException:
            if self._session is session:
                self._session = None
            await session.close()
            raise

    async def close(self) -> None:
        """Releases all that the handle holds, after what was under way; idempotent [life.open]."""
        session = self._session
        if session is None or session.pid != os.getpid():
            return  # what a fork inherited is not its own to close
        check_here(session, self.path)
        self._session = None
        await session.close()

    def new_handle(self) -> Self:
        """A further, unopened handle on the same file, for another loop, thread or process [life.open]."""
        return type(self)(
            self._setting.path,
            clock=self._setting.clock,
            durability=self._setting.durability,
            busy_bound=self._traits.bound,
            limits=self._traits.limits,
        )

    def _write(self, verb: Callable[[Transaction], T]) -> "asyncio.Future[T]":
        return self._open_session().writer.run(verb)

    def _read(self, verb: Callable[[Transaction], T]) -> "asyncio.Future[T]":
        return self._open_session().reader.run(verb)

    def _open_session(self) -> Session:
        return open_here(self._session, self.path)
