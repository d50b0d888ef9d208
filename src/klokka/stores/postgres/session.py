"""What an open handle has: connections, the ear for wakeups and the memory of claims, on one loop of one process."""

import asyncio
import os

from klokka.stores.postgres import migrator
from klokka.stores.postgres.database import Database
from klokka.stores.postgres.floors import Floors
from klokka.stores.postgres.link import connect
from klokka.stores.postgres.listener import Listener
from klokka.stores.postgres.looking_back import LookingBack
from klokka.stores.postgres.setting import Setting


class Session:
    """Belongs to the loop and the process that made it."""

    def __init__(self, setting: Setting) -> None:
        self.loop = asyncio.get_running_loop()
        self.pid = os.getpid()
        self.database = Database(setting)
        self.listener = Listener(setting)
        self.floors = Floors()
        self.looking_back = LookingBack(self.database, self.floors)
        self._setting = setting
        self._opening = asyncio.Lock()
        self._opened = False

    async def open(self) -> None:
        """Returns when the schema is this code's; once done, at once."""
        async with self._opening:
            if self._opened:
                return
            link = await connect(self._setting)
            try:
                if self._setting.migrates:
                    await migrator.migrate(link, self._setting)
                else:
                    await migrator.require_current(link, self._setting)
            finally:
                await link.close()
            self._opened = True

    async def close(self) -> None:
        """Ends everything."""
        await self.looking_back.close()
        await self.listener.close()
        await self.database.close()
