"""A worker under a process manager: SIGTERM or SIGINT stops it softly, a second one at once."""

import asyncio
import logging
import signal
from collections.abc import Sequence
from typing import Final

from klokka.runtime.worker import Worker

logger = logging.getLogger("klokka.signals")

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


async def run_until_signal(
    worker: Worker, signals: Sequence[signal.Signals] = STOP_SIGNALS, *, to_the_end: bool = False
) -> None:
    """Runs `worker` until it is stopped: the first of `signals` does so softly, every further one without grace.

    A signal during the start is honoured too. It must be called on the main thread; the loop's own handlers of these
    signals are replaced meanwhile. With `to_the_end` the process has nothing else to do: further signals are ignored once
    the worker has stopped, so that one that comes while the interpreter ends does not make a death of it.
    """
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        if worker.stopping:
            logger.warning("%s again: stopping without grace", number.name)
            worker.stop_now()
        else:
            logger.info("%s: stopping softly; once more stops at once", number.name)
            worker.stop_soon()

    for number in signals:
        loop.add_signal_handler(number, on_signal, number)
    try:
        async with worker:
            await worker.stopped()
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
            if to_the_end:
                signal.signal(number, signal.SIG_IGN)
