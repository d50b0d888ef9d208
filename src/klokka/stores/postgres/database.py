"""Running statements: errors in the project's terms, and victims of deadlocks repeated whole."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final, TypeVar

import psycopg

from klokka.stores.postgres.connections import Connections
from klokka.stores.postgres.failures import repeatable, translated
from klokka.stores.postgres.link import Link, Row
from klokka.stores.postgres.patience import Patience
from klokka.stores.postgres.setting import WORK, Setting

T = TypeVar("T")

_TURNS: Final = 3
"""How often a victim is tried at least, however slow this process is."""
_SILENCE: Final = (WORK + timedelta(seconds=10)).total_seconds()
"""Seconds after which a server that must have answered is taken for gone."""


class Transaction:
    """Statements that are committed together. Nothing of them is there before."""

    def __init__(self, link: Link, setting: Setting, patience: Patience) -> None:
        self._link = link
        self._setting = setting
        self._patience = patience
        self._granted = setting.bound

    async def run(self, name: str, *parameters: str | None) -> list[Row]:
        """The rows of a statement of ours."""
        return await self.ask(self._setting.schema.sql(name), parameters)

    async def ask(self, sql: bytes, parameters: Sequence[str | None]) -> list[Row]:
        """The rows of any statement, which waits for others no longer than the waits before it have left."""
        await self._spend()
        return await self._link.run(sql, parameters)

    async def attempt(self, name: str, *parameters: str | None) -> list[Row] | None:
        """The rows of a statement; None and nothing changed where a unique key is taken or cannot be had in time."""
        await self._spend()  # before the savepoint, with which it would be undone
        await self._link.connection.execute(b"savepoint attempt")
        try:
            rows = await self._link.run(self._setting.schema.sql(name), parameters)
        except (psycopg.errors.UniqueViolation, psycopg.errors.LockNotAvailable):
            await self._link.connection.execute(b"rollback to savepoint attempt")
            return None
        await self._link.connection.execute(b"release savepoint attempt")
        return rows

    async def _spend(self) -> None:
        less = self._patience.less_than(self._granted)
        if less is not None:
            await self._link.wait_at_most(less)
            self._granted = less


class Database:
    """What verbs run on."""

    def __init__(self, setting: Setting) -> None:
        self.setting: Final = setting
        self._connections = Connections(setting)

    async def close(self) -> None:
        """Closes the connections; those in use when their verbs are over."""
        await self._connections.close()

    async def write(self, name: str, *parameters: str | None) -> list[Row]:
        """The rows of one statement of ours, which commits by itself.

        Raises:
            KeyTakenError: it would have given two live jobs one unique key.
            StoreError: or one of its kinds, and UnknownOutcome where the connection broke.
        """
        return await self._alone(self.setting.schema.sql(name), parameters, may_be_done=True)

    async def write_gated(self, gate: str, name: str, *parameters: str | None) -> list[Row]:
        """The same of a statement in one with another, and only where that one gives a row; else none.

        Raises:
            StoreError: see `write`.
        """
        return await self._alone(self.setting.schema.gated(gate, name), parameters, may_be_done=True)

    async def read(self, name: str, *parameters: str | None) -> list[Row]:
        """The rows of one statement of ours that changes nothing."""
        return await self.ask(self.setting.schema.sql(name), *parameters)

    async def ask(self, sql: bytes, *parameters: str | None) -> list[Row]:
        """The same of one that was put together, with its one right plan."""
        return await self._alone(sql, parameters, may_be_done=False)

    async def look(self, sql: bytes, *parameters: str | None) -> list[Row]:
        """The rows of a question of people's, planned for what it asks."""

        async def act(link: Link, _: Patience) -> list[Row]:
            await link.look()
            cursor = psycopg.AsyncRawCursor(link.connection)
            await cursor.execute(sql, parameters, binary=True)
            rows = await cursor.fetchall()
            await link.commit()
            return rows

        return await self._patiently(act, may_be_done=False)

    async def transact(self, act: Callable[[Transaction], Awaitable[T]]) -> T:
        """Runs `act` in one transaction, which an exception undoes; whole again if it was the victim of a deadlock.

        Raises:
            KeyTakenError, StoreError: see `write`.
        """

        async def whole(link: Link, patience: Patience) -> T:
            committing = False
            try:
                await link.begin()
                value = await act(Transaction(link, self.setting, patience))
                committing = True
                await link.commit()
            except psycopg.Error as error:
                if repeatable(error) or committing:
                    raise
                raise translated(error, self.setting.where, may_be_done=False) from error
            return value

        return await self._patiently(whole, may_be_done=True)

    async def _alone(self, sql: bytes, parameters: Sequence[str | None], *, may_be_done: bool) -> list[Row]:
        async def act(link: Link, patience: Patience) -> list[Row]:
            if link.direct and patience.less_than(self.setting.bound) is None:
                return await link.run(sql, parameters)
            await link.begin()  # the settings last as long as a transaction
            rows = await Transaction(link, self.setting, patience).ask(sql, parameters)
            await link.commit()
            return rows

        return await self._patiently(act, may_be_done=may_be_done)

    async def _patiently(self, act: Callable[[Link, Patience], Awaitable[T]], *, may_be_done: bool) -> T:
        patience: Patience | None = None
        turn = 0
        while True:
            turn += 1
            link = await self._connections.take()
            patience = patience or Patience(self.setting.bound)
            try:
                async with asyncio.timeout(_SILENCE):
                    return await act(link, patience)
            except TimeoutError as error:
                silent = psycopg.OperationalError(f"no answer within {_SILENCE:g} s")
                raise translated(silent, self.setting.where, may_be_done=may_be_done) from error
            except (psycopg.Error, UnicodeEncodeError) as error:
                if not repeatable(error) or (turn >= _TURNS and patience.over):
                    raise translated(error, self.setting.where, may_be_done=may_be_done) from error
            finally:
                await self._connections.give_back(link)
            await asyncio.sleep(random.uniform(0.001, 0.01))
