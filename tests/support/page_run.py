"""Runs the blocks of one page in order, in the current folder: `python -m tests.support.page_run PAGE`.

- A block whose first line is a comment of a file's name, such as `# jobs.py`, is written to that file.
- Other Python is executed in one namespace for the page; one that awaits runs on a loop that the page keeps.
- Lines of `sh` are commands. `klokka worker` runs until nothing is due, and is then stopped as a process manager would.
- A `text` block is what the block before it printed, or the last of its commands.

The traceback of a failure points to the line of the page.
"""

import ast
import asyncio
import contextlib
import inspect
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from klokka.core.worker_records import WorkerBeat
from klokka.stores.sqlite.store import SqliteStore
from tests.support.pages import Block, blocks_of

BOUND: Final = 120.0
"""Seconds after which a command hangs. On a busy machine one that takes a second may take half a minute."""


class Run:
    """One page on its way."""

    def __init__(self, page: Path) -> None:
        self._page = page
        self._names: dict[str, Any] = {"__name__": "__page__"}
        self._loop = asyncio.Runner()
        self._printed = ""

    def play(self) -> None:
        """Runs all blocks that do not say that they are not run."""
        with self._loop:
            for block in blocks_of(self._page):
                if block.not_run is None:
                    self._play(block)

    def _play(self, block: Block) -> None:
        match block.language:
            case "python" | "toml" if block.file is not None:
                self._write(Path(block.file), block.text)
            case "python":
                self._execute(block)
            case "sh":
                for line in _commands(block.text):
                    self._printed = _command(line)
            case "text":
                self._compare(block)
            case _:
                pass

    def _write(self, file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        sys.modules.pop(file.stem, None)

    def _execute(self, block: Block) -> None:
        source = "\n" * (block.line - 1) + block.text
        code = compile(source, str(self._page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            if code.co_flags & inspect.CO_COROUTINE:
                self._loop.run(eval(code, self._names))  # noqa: S307
            else:
                exec(code, self._names)  # noqa: S102
        self._printed = printed.getvalue()

    def _compare(self, block: Block) -> None:
        if block.text.strip() != self._printed.strip():
            raise AssertionError(f"{self._page}:{block.line} says\n{block.text}\nbut what came is\n{self._printed}")


def _commands(text: str) -> list[str]:
    lines = (line.partition("  #")[0].strip() for line in text.replace("\\\n", " ").splitlines())
    return [line for line in lines if line]


def _command(line: str) -> str:
    if line.startswith("klokka worker "):
        return _worker(line)
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=BOUND, check=False)
    if done.returncode and not line.startswith("klokka doctor"):  # it may well find something
        raise AssertionError(f"`{line}` ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def _worker(line: str) -> str:
    with subprocess.Popen(
        ["sh", "-c", f"exec {line}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as worker:
        try:
            asyncio.run(_idle())
            worker.send_signal(signal.SIGTERM)
            printed, said = worker.communicate(timeout=BOUND)
        except (TimeoutError, subprocess.TimeoutExpired) as hang:
            worker.kill()
            printed, said = worker.communicate()
            raise AssertionError(f"`{line}` hangs ({hang}): {printed}{said}") from hang
        finally:
            worker.kill()
    if worker.returncode:
        raise AssertionError(f"`{line}` ended with {worker.returncode}: {printed}{said}")
    return printed


async def _idle() -> None:
    """Returns when a worker is there, and no job is running or due that it knows.

    Raises:
        TimeoutError: that has not come.
    """
    store = SqliteStore("jobs.db")
    await store.open()
    try:
        until = time.monotonic() + BOUND
        while time.monotonic() < until:
            workers = [row.beat for row in await store.workers() if row.live]
            running = any(depth.running for depth in await store.queue_depths())
            if workers and not running and not any([await _has_work(store, worker) for worker in workers]):
                return
            await asyncio.sleep(0.02)
    finally:
        await store.close()
    raise TimeoutError(f"there was no worker, or jobs were still due, after {BOUND} s")


async def _has_work(store: SqliteStore, worker: WorkerBeat) -> bool:
    due = await store.next_due(queues=worker.queues, kinds=worker.kinds)
    return due is not None and due <= await store.now()


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    os.environ["PYTHONPATH"] = str(Path.cwd())
    Run(Path(sys.argv[1])).play()
