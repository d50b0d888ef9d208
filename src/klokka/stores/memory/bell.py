"""A bell that is heard on every event loop and thread that listens."""

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress


class Bell:
    """Rings for all who listen at that moment. Rings that come close together may be heard as one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[object, Callable[[], None]] = {}

    def ring(self) -> None:
        """May be called on any thread."""
        with self._lock:
            listeners = tuple(self._listeners.values())
        for hear in listeners:
            hear()

    @contextmanager
    def heard_here(self) -> Generator[asyncio.Event]:
        """An event of the running loop that each ring sets."""
        loop = asyncio.get_running_loop()
        event = asyncio.Event()

        def hear() -> None:
            with suppress(RuntimeError):  # that loop was closed, and nobody listens any more
                loop.call_soon_threadsafe(event.set)

        with self._listening(hear):
            yield event

    @contextmanager
    def heard_by_thread(self) -> Generator[threading.Event]:
        """An event for a blocking wait that each ring sets."""
        event = threading.Event()
        with self._listening(event.set):
            yield event

    @contextmanager
    def _listening(self, hear: Callable[[], None]) -> Generator[None]:
        ticket = object()
        with self._lock:
            self._listeners[ticket] = hear
        try:
            yield
        finally:
            with self._lock:
                del self._listeners[ticket]
