"""A recurring job as the leased ticker keeps it."""

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from klokka.core.instants import LAST, MICROSECOND
from klokka.recurring.ports import Request
from klokka.schedules.schedule import Schedule


@dataclass(slots=True, kw_only=True)
class Entry:
    """One job type with its schedule. `last` is the latest tick decided, where the state need not be asked for it."""

    schedule: Schedule
    request: Request
    registered_at: datetime
    last: datetime | None = None
    trouble: str = ""
    """What was said last of why it cannot be enqueued."""

    @property
    def kind(self) -> str:
        return self.request.kind

    @property
    def definition(self) -> str:
        """Equal for equal definitions, so that a changed one starts at its registration and not in the past."""
        asked = self.request
        text = repr((self.schedule.canonical(), asked.args, asked.queue, asked.priority, asked.max_retries))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def latest(self, now: datetime) -> datetime | None:
        """The latest tick that is not later than `now`."""
        return self.schedule.prev(now + MICROSECOND if now < LAST else now)

    def of(self, tick: datetime) -> Request:
        """The request of one tick."""
        return replace(self.request, scheduled_for=tick)


def spelled(tick: datetime) -> str:
    """A tick as the key under which it is claimed."""
    return tick.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
