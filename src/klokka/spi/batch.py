"""The capability of settling many jobs in one write."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from klokka.core.records import Change


@runtime_checkable
class BatchingStore(Protocol):
    """A store that applies many transitions at once."""

    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        """Applies each change by the rules of `transition`, in one write.

        [batch.each] One answer for each, in order. An unknown, stale or conflicting one answers False and spoils no
        other; of equal ids each is judged after the one before. Refused input is an error before any write.
        """
        ...
