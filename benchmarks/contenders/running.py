"""What the contenders share: their options, their figures, and the two clocks."""

import json
import resource
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a run is told."""

    url: str
    path: str
    jobs: int
    seconds: float
    python: str

    @classmethod
    def given(cls) -> Self:
        return cls(**json.loads(sys.argv[1]))


def tell(figures: Mapping[str, float]) -> None:
    """Ends a run."""
    print(json.dumps(figures))


def cpu() -> float:
    """Seconds of CPU that all threads of this process have used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Stopwatch:
    """Both clocks since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._used = cpu()

    def rates(self, jobs: int, prefix: str = "") -> dict[str, float]:
        """Jobs for each second that passed, and for each second of CPU."""
        passed, used = time.perf_counter() - self._began, cpu() - self._used
        return {f"{prefix}jobs/s": jobs / passed, f"{prefix}jobs/cpu-s": jobs / max(used, 1e-6)}
