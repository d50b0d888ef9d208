"""How long a fresh interpreter takes to import Klokka and to end, and to do nothing and to import asyncio alone."""

import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Final

from benchmarks.contenders.running import tell

CODES: Final[Mapping[str, str]] = {
    "klokka": "import klokka",
    "klokka.Klokka": "import klokka; klokka.Klokka",
    "asyncio": "import asyncio",
    "nothing": "pass",
}


def once(code: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - began) * 1000


tell({f"{name} ms": min(once(code) for _ in range(5)) for name, code in CODES.items()})
