"""For tests of process handlers: jobs, handlers, and a witness of a process's life."""

import asyncio
import os
import select
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from klokka.core.ids import Fence, JobId, ScheduleId
from klokka.core.records import ClaimedJob
from klokka.runtime.handlers import Executor, Handler
from tests.support.process_handlers import plain

NOON: Final = datetime(2024, 5, 1, 12, tzinfo=UTC)
_BOUND: Final = 20.0


def process_handler(run: Callable[..., Any], decode: Callable[[str], Any] = plain, kind: str | None = None) -> Handler:
    name = getattr(run, "__name__", "unnamed").strip("<>")
    return Handler(kind=kind or f"test.{name}", decode=decode, run=run, executor=Executor.PROCESS)


def claimed_job(handler: Handler, payload: str = "", *, id: int = 7) -> ClaimedJob:
    return ClaimedJob(
        id=JobId(id),
        kind=handler.kind,
        payload=payload,
        payload_version=3,
        queue="slow",
        attempt=2,
        lapses=1,
        enqueued_at=NOON,
        scheduled_for=NOON,
        lease_until=NOON,
        fence=Fence(11),
        unique_key="key",
        schedule_id=ScheduleId("nightly"),
        headers=MappingProxyType({"trace": "abc"}),
    )


class Witness:
    """Knows through a fifo when a process has begun and when it, and all that inherited from it, is gone."""

    def __init__(self, directory: Path, name: str = "witness") -> None:
        self.path = str(directory / name)
        os.mkfifo(self.path)
        self._fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def close(self) -> None:
        os.close(self._fd)

    def pid(self) -> int:
        """The pid that the process says first."""
        return int(self._read())

    def gone(self) -> bool:
        """Waits for the end of all that hold the fifo; what they still say is a failure."""
        return self._read() == b""

    async def pid_async(self) -> int:
        return await asyncio.to_thread(self.pid)

    async def gone_async(self) -> bool:
        return await asyncio.to_thread(self.gone)

    def _read(self) -> bytes:
        readable, _, _ = select.select([self._fd], [], [], _BOUND)
        if not readable:
            raise TimeoutError(f"nothing from {self.path} in {_BOUND} s")
        return os.read(self._fd, 100)
