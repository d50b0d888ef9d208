"""Deletes what is older than its retention, in steps that disturb nobody."""

import asyncio
import logging
import random
import time
from datetime import timedelta
from typing import Final

from klokka.core.records import RetentionPolicy
from klokka.errors import StoreError
from klokka.runtime.outages import Outage
from klokka.spi.store import JobStore

logger = logging.getLogger("klokka.sweeper")

_LARGEST: Final = 1000
_SMALLEST: Final = 10
_LONG: Final = 0.5
_SOON: Final = 5.0


class Sweeper:
    """Sweeps every now and then, and at once again while more is left.

    A step that takes long or meets a busy store makes the next one smaller; quick ones let it grow again. After each
    step it rests as long as the step took, so that sweeping takes at most half of the writer's time.
    """

    def __init__(self, store: JobStore, retention: RetentionPolicy, every: timedelta) -> None:
        self._store = store
        self._retention = retention
        self._every = every.total_seconds()
        self._step = _LARGEST
        self._outage = Outage("sweeping old jobs", longest=60.0)

    async def run(self) -> None:
        """Sweeps until cancelled. The first round comes after a short random wait, so that a fleet does not sweep at once."""
        await asyncio.sleep(random.uniform(0, min(_SOON, self._every)))
        while True:
            await self._sweep()
            await asyncio.sleep(self._every * random.uniform(0.9, 1.1))

    async def _sweep(self) -> None:
        swept = 0
        more = True
        while more:
            began = time.monotonic()
            try:
                report = await self._store.sweep(self._retention, limit=self._step)
            except StoreError as error:
                self._step = max(_SMALLEST, self._step // 2)
                await asyncio.sleep(self._outage.failed(error))
                continue
            self._outage.over()
            swept += report.jobs
            more = report.more
            took = time.monotonic() - began
            self._step = max(_SMALLEST, self._step // 2) if took > _LONG else min(_LARGEST, self._step * 2)
            await asyncio.sleep(took)
        if swept:
            logger.info("swept %d jobs that were older than their retention", swept)
