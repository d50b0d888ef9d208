"""Others, each in an environment of its own in a cache folder, never in ours."""

import os
import subprocess
import sys
import venv
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

_PINNED: Final = {
    "huey": ("huey==3.5.4",),
    "pgqueuer": ("pgqueuer==1.6.0", "asyncpg==0.32.0", "uvloop==0.23.0"),
}


def interpreters(names: Collection[str]) -> Mapping[str, Path]:
    """The interpreter of each, made and filled by pip where it is not there yet."""
    return {name: _interpreter(name) for name in sorted(names)}


def _interpreter(name: str) -> Path:
    folder = _cache() / f"{_PINNED[name][0]}-python{sys.version_info.major}.{sys.version_info.minor}"
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *_PINNED[name]], check=True)
        ready.touch()
    return python


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "klokka-benchmarks"
