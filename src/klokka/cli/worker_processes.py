"""`klokka worker --processes N`: several worker processes under one supervisor, for the cores of one machine."""

import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from klokka.cli.supervisor import Supervisor

logger = logging.getLogger("klokka.supervisor")

_OVER_GRACE: Final = timedelta(seconds=15)
"""How long a process may take beyond its grace before it is killed."""


async def run_processes(arguments: Sequence[str], *, places: int, grace: timedelta) -> None:
    """Keeps `places` processes of `klokka worker ARGUMENTS` running until SIGTERM or SIGINT.

    A process that dies is started again, later each time. The first signal is passed on and lets every process drain;
    a second one is passed on too, and stops them at once. Nothing is left running.
    """
    workers = Supervisor(
        [sys.executable, "-m", "klokka", "worker", *arguments],
        places=places,
        environment={},
        told=logger.warning,
        output=None,
    )
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def on_signal() -> None:
        if asked.is_set():
            workers.send(signal.SIGTERM)
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    await workers.start()
    try:
        await asked.wait()
    finally:
        await workers.stop(grace + _OVER_GRACE)
