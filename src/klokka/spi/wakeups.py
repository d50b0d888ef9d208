"""The capability of hints: work may be ready."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Final, Protocol, runtime_checkable

LONGEST_SLEEP: Final = timedelta(minutes=1)
"""A runtime asks `next_due` at least this often, so that a job stored further ahead than this is found without a hint."""


@runtime_checkable
class PushCapableStore(Protocol):
    """A store that tells idle workers when something became claimable."""

    def wakeups(self) -> AsyncGenerator[None]:
        """Hints that work may be ready, until closed with `aclose()`.

        [wakeups.commit] At least one follows every commit that makes work claimable. One before the commit does not
        count; a rollback owes none, nor does time that merely passes: that is what `next_due` is for. Nor is one owed
        for a job planned further ahead than `LONGEST_SLEEP`, even if a caller's transaction is open at its time.
        [wakeups.first] One is given as soon as the subscription is in place, so that whoever claims after it
        misses nothing.
        [wakeups.hint] No payload; spurious ones are allowed, many may collapse into one.
        [wakeups.recover] A dropped or half-open connection is noticed and remade, and then one hint is given.
        """
        ...
