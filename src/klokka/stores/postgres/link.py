"""A connection with all that the store depends on set on it [life.isolation]."""

import asyncio
import select
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor, pq

from klokka.errors import StoreError
from klokka.stores.postgres.failures import unreachable
from klokka.stores.postgres.setting import WORK, Setting

OLDEST: Final = 140000
_WITH_TRANSACTION_TIMEOUT: Final = 170000
_LIFE: Final = 3600.0
"""Seconds after which a connection is remade, so that a new address of the server is found."""

_ONLY_ON_REQUEST: Final = sys.maxsize
"""How often a statement is sent before it is prepared unasked. With `None` it would not be even when asked."""

_LEFT_OPEN: Final = (pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR)

Row = tuple[Any, ...]

LOOK: Final = b"""begin isolation level read committed read only not deferrable;
set local enable_seqscan = on; set local enable_bitmapscan = on; set local plan_cache_mode = auto"""
"""Begins a transaction for people's questions, which may need to read all there is."""


class Link:
    """One connection. `direct` says that no pooler stands between, which may change the server's session any time."""

    __slots__ = ("_begin", "_born", "connection", "direct")

    def __init__(self, connection: AsyncConnection[Row], *, direct: bool, begin: bytes) -> None:
        self.connection = connection
        self.direct = direct
        self._begin = begin
        self._born = time.monotonic()

    @property
    def idle(self) -> bool:
        """Whether nothing is under way on it, as far as is known here."""
        return self.connection.pgconn.transaction_status == pq.TransactionStatus.IDLE

    @property
    def usable(self) -> bool:
        """Whether it may be used again: idle, not too old, and without a word from the server that it is over."""
        if not self.idle or time.monotonic() - self._born > _LIFE:
            return False
        readable = select.poll()
        readable.register(self.connection.pgconn.socket, select.POLLIN)
        return not readable.poll(0)

    async def run(self, sql: bytes, parameters: Sequence[str | None] = ()) -> list[Row]:
        """The rows of a statement, prepared when it is first run; never through a pooler, whose sessions go round."""
        cursor = AsyncRawCursor(self.connection)
        await cursor.execute(sql, parameters, prepare=self.direct, binary=True)
        return await cursor.fetchall() if cursor.pgresult is not None and cursor.pgresult.nfields else []

    async def begin(self) -> None:
        """Begins a transaction for writing."""
        await self.connection.execute(self._begin)

    async def wait_at_most(self, patience: timedelta) -> None:
        """For the rest of the transaction a lock is waited for no longer than this."""
        await self.connection.execute(f"set local lock_timeout = {_milliseconds(patience)}".encode())

    async def look(self) -> None:
        """Begins a transaction for reading."""
        await self.connection.execute((self._begin + b";" + LOOK.partition(b";")[2]) if not self.direct else LOOK)

    async def commit(self) -> None:
        """Ends the transaction; when this returns its effects are there."""
        await self.connection.execute(b"commit")

    async def rolled_back(self) -> bool:
        """Whether the transaction that was left open could be undone within a second."""
        if self.connection.pgconn.transaction_status not in _LEFT_OPEN:
            return False
        try:
            async with asyncio.timeout(1):
                await self.connection.execute(b"rollback")
        except (psycopg.Error, TimeoutError):
            return False
        return self.idle

    async def close(self) -> None:
        """Ends the connection, and whatever transaction is open on it."""
        await self.connection.close()


async def connect(setting: Setting, conninfo: str | None = None) -> Link:
    """A new connection.

    Raises:
        StoreError: or one of its kinds: it cannot be made, or the server is not one that Klokka can use.
    """
    try:
        connection = await AsyncConnection[Row].connect(
            conninfo or setting.conninfo, autocommit=True, prepare_threshold=_ONLY_ON_REQUEST
        )
    except psycopg.Error as error:
        raise unreachable(error, setting.where) from error
    try:
        return await _prepared(connection, setting)
    except psycopg.Error as error:
        await connection.close()
        raise unreachable(error, setting.where) from error
    except BaseException:
        await connection.close()
        raise


async def _prepared(connection: AsyncConnection[Row], setting: Setting) -> Link:
    _check_server(connection, setting.where)
    wanted = _session(setting, connection.info.server_version)
    # A pooler hands out numbers of its own for the server's processes. The settings it would carry to others.
    here = f"(select pg_backend_pid() = {connection.info.backend_pid} as direct) as here"
    cursor = await connection.execute(f"select here.direct, {_calls(wanted, 'not here.direct')} from {here}".encode())  # noqa: S608
    row = await cursor.fetchone()
    direct = row is not None and bool(row[0])
    begin = b"begin isolation level read committed read write not deferrable"
    if not direct:
        begin += f"; select {_calls(wanted, 'true')}".encode()
    return Link(connection, direct=direct, begin=begin)


def _calls(wanted: Mapping[str, str], local: str) -> str:
    return ", ".join(f"set_config('{name}', {value}, {local})" for name, value in wanted.items())


def _check_server(connection: AsyncConnection[Row], where: str) -> None:
    version = connection.info.server_version
    if version < OLDEST:
        raise StoreError(f"{where} is version {version // 10000}; Klokka needs PostgreSQL 14 or newer.")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(
            f"{where} has the encoding {encoding}, which cannot keep every text. "
            f"Klokka needs a database made with `create database … encoding 'UTF8' template template0`."
        )


def _session(setting: Setting, version: int) -> dict[str, str]:
    """Settings and the SQL of their values."""
    return {
        "default_transaction_isolation": "'read committed'",
        "default_transaction_read_only": "'off'",
        "default_transaction_deferrable": "'off'",
        "search_path": "''",
        "timezone": "'UTC'",
        "datestyle": "'ISO'",
        # Stronger values are the administrator's choice and stay.
        "synchronous_commit": "case current_setting('synchronous_commit') when 'off' then 'on' "
        "else current_setting('synchronous_commit') end",
        "lock_timeout": _milliseconds(setting.bound),
        "statement_timeout": _milliseconds(WORK),
        "idle_in_transaction_session_timeout": _milliseconds(setting.bound),
        "idle_session_timeout": "'0'",
        **({"transaction_timeout": _milliseconds(2 * WORK)} if version >= _WITH_TRANSACTION_TIMEOUT else {}),
        # Every hot statement has one right plan, by index and in its order, whatever the statistics say: made once,
        # kept, and not exchanged for a scan that pays while the table is small and is kept when it is large.
        "plan_cache_mode": "'force_generic_plan'",
        "enable_seqscan": "'off'",
        "enable_bitmapscan": "'off'",
        "enable_mergejoin": "'off'",
        "enable_indexscan": "'on'",
        "enable_indexonlyscan": "'on'",
        "enable_nestloop": "'on'",
        "enable_hashjoin": "'on'",
        "jit": "'off'",
    }


def _milliseconds(span: timedelta) -> str:
    return f"'{max(1, span // timedelta(milliseconds=1))}ms'"
