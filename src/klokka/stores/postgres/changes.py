"""Changes of state as parameters of statements."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from klokka.core.error_text import storable
from klokka.core.records import Change
from klokka.core.states import TERMINAL, WAITING, JobStatus, Running, status_of, time_of
from klokka.stores._doors import known_fence, known_id
from klokka.stores.postgres.parameters import instant, numbers, span

_ENCODE: Final = msgspec.json.Encoder().encode


def possible(change: Change) -> bool:
    """Whether the store can have given out such an id and fence [life.arguments]."""
    return known_id(change.id) and (change.fence is None or known_fence(change.fence))


def reopens(change: Change) -> bool:
    """Whether it makes a terminal job live again, which its unique key may forbid [transition.reopen]."""
    return status_of(change.from_) in TERMINAL and status_of(change.to) in WAITING


def grouped(changes: Sequence[Change]) -> list[tuple[str, ...]]:
    """Changes of distinct jobs as few statements, each by its name and its parameters."""
    settled: dict[JobStatus, list[Change]] = {}
    others: list[Change] = []
    for change in changes:
        if _settles(change):
            settled.setdefault(status_of(change.to), []).append(change)
        else:
            others.append(change)
    statements = [
        (
            "settle_jobs",
            numbers(change.id for change in group),
            numbers(change.fence or 0 for change in group),
            status.value,
        )
        for status, group in settled.items()
    ]
    return [*statements, ("transition_jobs", rendered(others))] if others else [*statements]


def rendered(changes: Sequence[Change]) -> str:
    """Changes of distinct jobs as the JSON object that transition_jobs takes."""
    return _ENCODE({str(change.id): _fields(change) for change in changes}).decode()


def _settles(change: Change) -> bool:
    """Whether it is of the commonest sort: the holder ends its job, with no error to keep."""
    return (
        isinstance(change.from_, Running)
        and change.fence is not None
        and change.error is None
        and not change.refund
        and status_of(change.to) in TERMINAL
    )


def _fields(change: Change) -> dict[str, Any]:
    to = status_of(change.to)
    fields: dict[str, Any] = {
        "from_status": status_of(change.from_).value,
        "fence": change.fence,
        "status": to.value,
        "waits": to in WAITING,
        "refund": int(change.refund),
    }
    match time_of(change.to):
        case timedelta() as wait:
            fields["wait"] = span(wait)
        case datetime() as at:
            fields["at"] = instant(at)
        case None:
            pass
    match time_of(change.from_):
        case datetime() as at:
            fields["from_time"] = instant(at)
        case _:  # a duration was refused at the door
            pass
    if change.error is not None:
        error = storable(change.error)
        fields |= {
            "error_type": error.type,
            "error_message": error.message,
            "error_traceback": error.traceback,
            "error_attempt": error.attempt,
            "error_at": None if error.at is None else instant(error.at),
        }
    return fields
