"""A process whose clocks are off."""

import datetime
import time
from datetime import datetime as real
from typing import Any


def set_clocks(by: float) -> None:
    """Lets the clocks of this process be off by so many seconds, for whatever is imported from here on."""
    if not by:
        return
    real_time, real_ns = time.time, time.time_ns
    shift = datetime.timedelta(seconds=by)

    class SameInstances(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, real)

    class Skewed(real, metaclass=SameInstances):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return real.now(tz) + shift

        @classmethod
        def utcnow(cls) -> Any:
            return real.now(datetime.UTC).replace(tzinfo=None) + shift

    time.time = lambda: real_time() + by
    time.time_ns = lambda: real_ns() + round(by * 1e9)
    datetime.datetime = Skewed  # type: ignore[misc]
