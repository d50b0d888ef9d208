"""What processes have told of their verbs, put together: begun, ended, and what came of it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from klokka.tck.processes.troupe import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """One verb of one process. `ended` is infinite where the process died over it or its outcome is unknown."""

    actor: str
    verb: str
    about: Any
    answer: Any
    begun: float
    ended: float
    refused: bool = False

    @property
    def known(self) -> bool:
        return self.ended < math.inf

    def __str__(self) -> str:
        outcome = "refused" if self.refused else self.answer if self.known else "nobody knows"
        return f"{self.begun:.3f} to {self.ended:.3f} s  {self.actor}: {self.verb} {self.about} → {outcome}"


def deeds_of(actors: Iterable[Actor]) -> list[Deed]:
    """All verbs of these processes, by when they began."""
    deeds: list[Deed] = []
    for actor in actors:
        begun: float | None = None
        about: Any = None
        for line in actor.lines:
            if line.what == "begin":
                begun, about = line.at, line.said
            elif begun is not None and line.what in ("end", "refused", "unknown"):
                ended = math.inf if line.what == "unknown" else line.at
                answer = line.said[2] if line.what == "end" else None
                deeds.append(_deed(actor, about, answer, begun, ended, refused=line.what == "refused"))
                begun = None
        if begun is not None:
            deeds.append(_deed(actor, about, None, begun, math.inf))
    return sorted(deeds, key=lambda deed: deed.begun)


def of_verb(deeds: Sequence[Deed], verb: str) -> list[Deed]:
    """Those of one verb that came to an answer."""
    return [deed for deed in deeds if deed.verb == verb and deed.known and not deed.refused]


def _deed(actor: Actor, about: Any, answer: Any, begun: float, ended: float, *, refused: bool = False) -> Deed:
    verb, what = about
    return Deed(actor=actor.name, verb=verb, about=what, answer=answer, begun=begun, ended=ended, refused=refused)
