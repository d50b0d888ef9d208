"""Identities: numbers and names that must never be taken for one another."""

from typing import Final, NewType

JobId = NewType("JobId", int)
"""A job's identity: 1 to 2**63 - 1, given once, growing with each enqueue [enqueue.ids]."""

Fence = NewType("Fence", int)
"""Grows with every claim of one job, schedule or lease, and never goes back [claim.fence]."""

WorkerId = NewType("WorkerId", str)
"""Drawn afresh at each start of a worker; never a host name."""

ScheduleId = NewType("ScheduleId", str)
"""The user's name for a schedule."""

KeyToken = NewType("KeyToken", str)
"""Proof of a claimed idempotency key [key.owner]."""

MAX_ID: Final = 2**63 - 1
