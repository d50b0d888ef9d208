"""How long a fresh interpreter takes to import Klokka and to end; and to import asyncio alone, and nothing at all."""

import resource
import subprocess
import time
from collections.abc import Mapping
from typing import Final

from benchmarks.contenders.running import Options, tell

CODES: Final[Mapping[str, str]] = {
    "klokka": "import klokka",
    "klokka.Klokka": "import klokka; klokka.Klokka",
    "asyncio": "import asyncio",
    "nothing": "pass",
}
TRIES: Final = 5


def once(python: str, code: str) -> tuple[float, float]:
    """Milliseconds that passed, and that the CPU worked."""
    began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, "-c", code], check=True)
    passed, spent = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return passed * 1000, (spent.ru_utime + spent.ru_stime - used.ru_utime - used.ru_stime) * 1000


options = Options.given()
figures: dict[str, float] = {}
for name, code in CODES.items():
    tries = [once(options.python, code) for _ in range(TRIES)]
    figures[f"{name} ms"] = min(passed for passed, _ in tries)
    figures[f"{name} cpu-ms"] = min(spent for _, spent in tries)
tell(figures)
