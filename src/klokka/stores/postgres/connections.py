"""The connections of a handle, made when they are needed and kept for the next verb.

A pool of our own and not psycopg_pool's: it has no tasks in the background, says at once and with the server's words
why no connection can be had, and looks at an idle connection before it is used at the price of one system call.
"""

import asyncio
from contextlib import suppress
from typing import Final

import psycopg

from klokka.core.durations import spell
from klokka.errors import Busy
from klokka.stores.postgres.link import Link, connect
from klokka.stores.postgres.setting import Setting


class Connections:
    """At most `setting.connections` at once; each is given to one verb at a time."""

    def __init__(self, setting: Setting) -> None:
        self.setting: Final = setting
        self._idle: list[Link] = []
        self._places = asyncio.Semaphore(setting.connections)
        self._closed = False

    async def take(self) -> Link:
        """A usable connection, which must be given back.

        Raises:
            Busy: all were in use for as long as the bound says.
            StoreError: or one of its kinds: none can be made.
        """
        await self._place()
        try:
            while self._idle:
                link = self._idle.pop()
                if link.usable:
                    return link
                await self._discard(link)
            return await connect(self.setting)
        except BaseException:
            self._places.release()
            raise

    async def give_back(self, link: Link) -> None:
        """Keeps the connection for the next verb, without a transaction that was left open on it."""
        try:
            if not self._closed and (link.idle or await link.rolled_back()):
                self._idle.append(link)
            else:
                await self._discard(link)
        finally:
            self._places.release()

    async def close(self) -> None:
        """Closes those that are idle, and the others when they come back."""
        self._closed = True
        while self._idle:
            await self._discard(self._idle.pop())

    async def _place(self) -> None:
        if not self._places.locked():
            await self._places.acquire()  # without a timer where there is room
            return
        bound = self.setting.bound
        try:
            async with asyncio.timeout(bound.total_seconds()):
                await self._places.acquire()
        except TimeoutError as error:
            raise Busy(
                f"{self.setting.where}: all {self.setting.connections} connections were in use for {spell(bound)}. "
                f"Nothing was written. Try again, or give the store more connections."
            ) from error

    async def _discard(self, link: Link) -> None:
        with suppress(psycopg.Error, OSError):
            await link.close()
