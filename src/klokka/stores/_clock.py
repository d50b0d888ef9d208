"""The clock of embedded stores: the host's, read inside the store behind one seam [time.store-clock]."""

from datetime import UTC, datetime


def system_clock() -> datetime:
    """The host's wall clock, aware and in UTC."""
    return datetime.now(UTC)
