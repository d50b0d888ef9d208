"""One hash for a whole definition, so that a store can tell a changed schedule from the same one."""

import hashlib
import json
from typing import Final

from klokka.core.records import NewJob
from klokka.schedules.misfire import MisfirePolicy
from klokka.schedules.schedule import Schedule

_VERSION: Final = 1
"""Of the canonical form. A new one makes every schedule start afresh, so it changes only with the meaning."""


def fingerprint(schedule: Schedule, run: NewJob, policy: MisfirePolicy) -> str:
    """64 hexadecimal digits: equal for equal meanings, on every node and in every process; unequal for others.

    The order and spelling of a cron expression do not count, nor do its blanks; which fields begin with `*` does, as it
    decides what a clock change does. `run` is the request that each tick enqueues; its `schedule_id` is not looked at.
    """
    definition = [
        _VERSION,
        schedule.canonical(),
        policy.canonical(),
        run.kind,
        run.payload,
        run.payload_version,
        run.queue,
        None if run.run_at is None else str(run.run_at),
        run.unique_key,
        sorted(run.headers.items()),
    ]
    return hashlib.sha256(json.dumps(definition, separators=(",", ":")).encode()).hexdigest()
