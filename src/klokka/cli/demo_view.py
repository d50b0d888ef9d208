"""The demo's live picture: how the jobs stand, who works, what happened."""

import time
from collections import deque
from collections.abc import Mapping
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from klokka.core.states import TERMINAL, JobStatus

LINES = 8
COLOURS = {
    JobStatus.SUCCEEDED: "green",
    JobStatus.RUNNING: "cyan",
    JobStatus.FAILED: "yellow",
    JobStatus.DEAD_LETTERED: "red",
}


class View:
    """Redraws in place on a terminal; elsewhere it prints what happens, a line each."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._began = time.monotonic()
        self._happened: deque[str] = deque(maxlen=LINES)
        self._live = Live(console=console, auto_refresh=False, transient=False) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def tell(self, what: str) -> None:
        """Notes something that happened, with the time since the start."""
        line = f"{time.monotonic() - self._began:5.1f} s  {what}"
        self._happened.append(line)
        if self._live is None:
            self._console.print(line, markup=False, highlight=False)

    def show(self, counts: Mapping[JobStatus, int], workers: Mapping[int, int]) -> None:
        """Draws how things stand now."""
        if self._live is not None:
            self._live.update(self._picture(counts, workers), refresh=True)

    def _picture(self, counts: Mapping[JobStatus, int], workers: Mapping[int, int]) -> RenderableType:
        ended = sum(counts[status] for status in TERMINAL)
        table = Table.grid(padding=(0, 2))
        for status in JobStatus:
            table.add_row(Text(status.replace("_", " "), COLOURS.get(status, "")), Text(f"{counts[status]:>6,}"))
        running = ", ".join(f"{place} (pid {pid})" for place, pid in workers.items()) or "none"
        bar = Table.grid()  # a bar alone does not end its line
        bar.add_row(ProgressBar(total=self._total, completed=min(ended, self._total), width=48))
        return Group(
            Text(f"{ended:,} of {self._total:,} jobs have ended"),
            bar,
            table,
            Text(f"workers: {running}"),
            Text("\n".join(self._happened), style="dim"),
        )
