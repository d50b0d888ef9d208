"""Looks, beside the claims, at what stands behind the places where they begin [claim.look-back]."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from klokka.errors import StoreError
from klokka.stores.postgres.database import Database
from klokka.stores.postgres.floors import LOOKS_BACK, Floors, places
from klokka.stores.postgres.parameters import texts

_LOG: Final = logging.getLogger(__name__)
_MOMENT: Final = 0.02
"""Seconds that a claim waits for a look back, so that what most of them find is in this claim already."""


class LookingBack:
    """One look at a time. It may step over millions of entries, and no claim stands still for that."""

    def __init__(self, database: Database, floors: Floors) -> None:
        self._database = database
        self._floors = floors
        self._moment = _MOMENT if database.setting.connections > 1 else None
        self._task: asyncio.Task[bool] | None = None

    async def begin(self, queues: Sequence[str], kinds: Sequence[str]) -> bool:
        """Looks back if it is time to. Returns when that is done, or after a moment, and says whether nothing was there.

        On a handle with one connection no claim could go on meanwhile.
        """
        if (self._task is not None and not self._task.done()) or not self._floors.due(queues, kinds):
            return False
        self._task = asyncio.get_running_loop().create_task(self._run(queues, kinds), name="klokka look back")
        await asyncio.wait({self._task}, timeout=self._moment)
        return self._task.done() and self._task.result()

    async def close(self) -> None:
        """Ends what is under way."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self, queues: Sequence[str], kinds: Sequence[str]) -> bool:
        floors = self._floors.of(queues, kinds)
        try:
            ((read, took, *found),) = await self._database.read(
                "left_behind", texts(queues), texts(kinds), *places(floors)
            )
        except StoreError as error:
            _LOG.warning("%s: jobs that were passed over may wait longer (%s).", self._database.setting.where, error)
            self._floors.look_back_after(queues, kinds, LOOKS_BACK)
            return False
        each = list(zip(*(column or () for column in found), strict=True))
        self._floors.looked_back(queues, kinds, took, read=int(read), found=each)
        return not each
