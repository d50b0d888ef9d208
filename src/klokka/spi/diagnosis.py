"""The capability of telling what is wrong with the store's own house: for `klokka doctor` and for monitoring."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong, and what to do about it; no `advice` where the problem says it already."""

    problem: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReport:
    """What a store tells of itself: `facts` by name, for people to read, and what of them is wrong."""

    facts: Mapping[str, str]
    findings: Sequence[Finding]


@runtime_checkable
class DiagnosableStore(Protocol):
    """A store that knows what commonly goes wrong with what it stands on."""

    async def diagnose(self) -> StoreReport:
        """What can be found out from here, without changing anything and without an open handle.

        What cannot be seen, by this role or before the first migration, is left out.

        Raises:
            StoreError: or one of its kinds: it cannot be reached or is none that Klokka can use.
        """
        ...
