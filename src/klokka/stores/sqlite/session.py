"""What a handle holds between `open` and `close`: two lanes and the subscriptions, on one event loop."""

import asyncio
import os

from klokka.errors import MisuseError
from klokka.stores.sqlite.bell import Bell
from klokka.stores.sqlite.lane import Lane
from klokka.stores.sqlite.reader import Reader
from klokka.stores.sqlite.setting import Setting
from klokka.stores.sqlite.wakeups import Subscriptions
from klokka.stores.sqlite.writer import Writer


class Session:
    """The open half of a handle. It belongs to the process and the loop that made it."""

    def __init__(self, setting: Setting) -> None:
        self.loop = asyncio.get_running_loop()
        self.pid = os.getpid()
        self.writer = Lane(
            Writer(
                path=setting.path,
                open=setting.connect_migrated,
                clock=setting.clock,
                patience=setting.patience,
                bell=Bell(setting.path),
            ),
            "writer",
        )
        self.reader = Lane(
            Reader(path=setting.path, open=setting.connect, clock=setting.clock, patience=setting.patience),
            "reader",
        )
        self.subscriptions = Subscriptions(setting.path, self.reader)
        self._opening = asyncio.Lock()
        self._is_open = False
        self._failure: Exception | None = None

    async def open(self) -> None:
        """Returns when both lanes are connected; of several callers one connects and the others wait."""
        async with self._opening:
            if self._failure is not None:
                raise self._failure
            if self._is_open:
                return
            try:
                await self.writer.open()
                await self.reader.open()
                self._is_open = True
            except Exception as error:
                self._failure = error
                raise
            except BaseException:
                self._failure = MisuseError("The opening of the store was called off by whoever asked for it first.")
                raise

    async def close(self) -> None:
        """Returns when nothing is held any more; what was under way is finished first."""
        self.subscriptions.close()
        await self.reader.close()
        await self.writer.close()
