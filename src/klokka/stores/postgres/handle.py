"""The life of a handle: opening, closing, further handles, and who may use it."""

import os
from datetime import datetime, timedelta
from typing import Final, Self

from klokka.core.instants import MICROSECOND, positive
from klokka.core.limits import Limits
from klokka.spi.life import Migrations, Survives, Traits
from klokka.stores._belonging import check_here, open_here
from klokka.stores.postgres import migrator
from klokka.stores.postgres.database import Database
from klokka.stores.postgres.floors import LOOKS_BACK
from klokka.stores.postgres.link import connect
from klokka.stores.postgres.rows import utc
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.session import Session
from klokka.stores.postgres.setting import Setting, check_connections, connectable

FIVE_SECONDS: Final = timedelta(seconds=5)
TEN_SECONDS: Final = timedelta(seconds=10)


class Handle:
    """Access to one schema from one event loop [life.open]."""

    def __init__(
        self,
        url: str,
        *,
        schema: str = "klokka",
        bound: timedelta = FIVE_SECONDS,
        connections: int = 8,
        listen: str | None = None,
        listen_check: timedelta = TEN_SECONDS,
        migrate: bool = True,
        limits: Limits | None = None,
    ) -> None:
        """A handle on a schema of the database at `url`, which is libpq's in form and meaning.

        `bound` is how long a verb waits for somebody else's lock, or for one of the handle's `connections`, before it
        raises `Busy`. `listen` is where the one connection for wakeups goes, if a pooler at `url` cannot carry it, and
        `listen_check` is how long that may be silent before the server is asked for a word.
        With `migrate=False` a schema that is not current is refused at `open`.

        Raises:
            UnknownStore: libpq does not understand a URL.
            InvalidInput: no schema can have this name, or a bound or number is out of range.
        """
        self._keep(
            Setting(
                conninfo=connectable(url),
                listen=connectable(listen or url, "listen"),
                schema=Schema(schema),
                bound=positive(bound, "bound"),
                connections=check_connections(connections),
                listen_check=positive(listen_check, "listen_check"),
                migrates=migrate,
                limits=limits or Limits(),
            )
        )

    def _keep(self, setting: Setting) -> None:
        self._setting = setting
        self._traits = Traits(
            name="postgresql",
            version="14 to 18",
            resolution=MICROSECOND,
            bound=setting.bound,
            survives=Survives.MACHINE,
            looks_back=LOOKS_BACK,
            limits=setting.limits,
        )
        self._session: Session | None = None

    @property
    def traits(self) -> Traits:
        """What the store states of itself."""
        return self._traits

    @property
    def conninfo(self) -> str:
        """Where it connects to, as libpq has it, with the password if one was given."""
        return self._setting.conninfo

    async def open(self) -> None:
        """Makes the handle usable on the running loop, migrating the schema where that is due [life.open].

        A closed handle may be opened again, on another loop too.

        Raises:
            SchemaMismatch: the schema is newer than this code, foreign or damaged.
            StoreUnavailable: the server cannot be reached; StoreReadOnly: this role may not migrate.
            StoreError: the server or the database is none that Klokka can use.
            MisuseError: it is open on another loop or in another process.
        """
        session = self._session
        if session is None:
            session = self._session = Session(self._setting)
        else:
            check_here(session, self._setting.where)
        try:
            await session.open()
        except BaseException:
            if self._session is session:
                self._session = None
            await session.close()
            raise

    async def close(self) -> None:
        """Releases all that the handle holds; idempotent [life.open]."""
        session, self._session = self._session, None
        if session is not None and session.pid == os.getpid():
            check_here(session, self._setting.where)
            await session.close()

    def new_handle(self) -> Self:
        """A further, unopened handle on the same schema, for another loop, thread or process [life.open]."""
        handle = object.__new__(type(self))
        handle._keep(self._setting)
        return handle

    async def now(self) -> datetime:
        """The server's clock [time.store-clock]."""
        ((at,),) = await self._database.read("now")
        return utc(at)

    async def schema(self) -> Migrations:
        """Where the schema stands, without changing anything; needs no open handle."""
        link = await connect(self._setting)
        try:
            return await migrator.standing(link, self._setting)
        finally:
            await link.close()

    async def migrate(self) -> Migrations:
        """Brings the schema to this code's version and returns where it stood before; needs no open handle."""
        link = await connect(self._setting)
        try:
            return await migrator.migrate(link, self._setting)
        finally:
            await link.close()

    def migration_sql(self) -> str:
        """All migrations as one script for this schema."""
        return migrator.script(self._setting.schema)

    @property
    def _database(self) -> Database:
        return self._open_session().database

    def _open_session(self) -> Session:
        return open_here(self._session, self._setting.where)
