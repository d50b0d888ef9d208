"""The rule that no background duty dies silently."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from klokka.runtime.outages import Outage

logger = logging.getLogger("klokka.supervision")

HEALTHY_AFTER: Final = 60.0
"""A duty that ran for so many seconds starts again without the patience that its earlier failures taught."""


async def supervised(name: str, duty: Callable[[], Awaitable[None]]) -> None:
    """Runs `duty` until it returns or is cancelled; if it raises, that is logged and it starts again after a while."""
    outage = Outage(f"the {name}", first=0.1, longest=30.0)
    while True:
        began = time.monotonic()
        try:
            await duty()
        except asyncio.CancelledError as error:
            if asked_to_end():
                raise
            failure: BaseException = error
        except Exception as error:
            failure = error
        else:
            return
        if time.monotonic() - began > HEALTHY_AFTER:
            outage.over()
        logger.error("the %s failed unexpectedly and starts again", name, exc_info=failure)
        await asyncio.sleep(outage.failed(failure))


def asked_to_end() -> bool:
    """Whether somebody cancelled the running task, as opposed to a CancelledError out of something that it awaited."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
