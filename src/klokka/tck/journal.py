"""What was asked of a store and what it answered, in order, so that a failure can show how it came about."""

import itertools
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from klokka.spi.store import JobStore
from klokka.tck.interceptor import intercepted
from klokka.tck.words import words

_KEPT: Final = 200
_VALUE: Final = 160
_UNSEEN: Final = frozenset({"now"})
"""Verbs that change nothing and are asked all the time."""


@dataclass(slots=True)
class Entry:
    """One call or event. It is put into words when somebody reads it."""

    who: str
    what: str
    args: tuple[Any, ...] | None = None
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])
    begun: float = field(default_factory=time.monotonic)
    ended: float | None = None
    answer: Any = None
    raised: BaseException | None = None

    def line(self, start: float) -> str:
        """As one line, with its time since `start`."""
        return f"{self.begun - start:8.3f} s  {self.who:<9} {self.what}{self._given()}{self._answered()}"

    def _given(self) -> str:
        if self.args is None:
            return ""
        given = [_short(words(value)) for value in self.args]
        given += [f"{name}={_short(words(value))}" for name, value in self.named.items()]
        return f"({', '.join(given)})"

    def _answered(self) -> str:
        if self.args is None:
            return ""
        if self.ended is None:
            return " → no answer yet"
        took = self.ended - self.begun
        slow = f" (after {took:.3f} s)" if took >= 0.05 else ""
        if self.raised is not None:
            return f" → raised {_short(words(self.raised))}{slow}"
        return f" → {_short(words(self.answer))}{slow}"


class Journal:
    """The last calls of one check on all its handles, from any thread."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._entries: deque[Entry] = deque(maxlen=_KEPT)
        self._handles = itertools.count(1)
        self._lock = threading.Lock()
        self.count = 0

    def watch(self, store: JobStore) -> JobStore:
        """`store` with its calls written here, under a number of its own."""
        return intercepted(store, _Hand(self, f"handle {next(self._handles)}"))

    def note(self, what: str) -> None:
        """Writes down what is no call: the clock was moved, connections were cut."""
        self.add(Entry("the kit", what))

    def add(self, entry: Entry) -> None:
        """Writes an entry down."""
        with self._lock:
            self._entries.append(entry)
            self.count += 1

    def last(self, most: int = 15) -> tuple[str, ...]:
        """The last entries, oldest first, one line each."""
        with self._lock:
            entries = list(self._entries)[-most:]
        return tuple(self._lines(entries))

    def _lines(self, entries: list[Entry]) -> Iterator[str]:
        return (entry.line(self._start) for entry in entries)


class _Hand:
    """Writes the calls of one handle."""

    def __init__(self, journal: Journal, name: str) -> None:
        self._journal = journal
        self._name = name

    async def awaited(
        self, verb: str, call: Callable[..., Awaitable[Any]], args: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        entry = self._begun(verb, args, named)
        try:
            entry.answer = await call(*args, **named)
        except BaseException as error:
            entry.raised = error
            raise
        finally:
            entry.ended = time.monotonic()
        return entry.answer

    def blocking(self, verb: str, call: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        entry = self._begun(verb, args, named)
        try:
            entry.answer = call(*args, **named)
        except BaseException as error:
            entry.raised = error
            raise
        finally:
            entry.ended = time.monotonic()
        return entry.answer

    def _begun(self, verb: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Entry:
        entry = Entry(self._name, verb, args, named)
        if verb not in _UNSEEN:
            self._journal.add(entry)
        return entry


def _short(text: str) -> str:
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}…"
