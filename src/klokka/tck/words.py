"""Calls and answers in few words, for scripts and histories that people read."""

import dataclasses
from collections.abc import Mapping, Set as AbstractSet
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from klokka.core.records import ClaimedJob, EnqueueResult
from klokka.core.schedule_records import ScheduleFire


def call(verb: str, arguments: Mapping[str, object]) -> str:
    """A call as one writes it."""
    return f"{verb}({', '.join(f'{name}={words(value)}' for name, value in arguments.items())})"


def words(value: Any) -> str:
    """A value without what it shares with all others of its sort."""
    match value:
        case ClaimedJob():
            return f"job {value.id} (fence {value.fence}, attempt {value.attempt}, lapses {value.lapses})"
        case ScheduleFire():
            return f"fire of {value.schedule_id} (fence {value.fence}, for {words(value.scheduled_for)})"
        case EnqueueResult():
            return f"job {value.id}" if value.created else f"job {value.id}, which was there"
        case BaseException():
            return f"{type(value).__name__}: {value}"
        case Enum():
            return value.name
        case timedelta():
            return f"{value.total_seconds():g} s"
        case datetime():
            return value.strftime("%H:%M:%S.%f").rstrip("0").rstrip(".")
        case list() | tuple():
            return f"[{', '.join(words(each) for each in value)}]"  # pyright: ignore[reportUnknownVariableType]
        case AbstractSet():
            return f"{{{', '.join(sorted(words(each) for each in value))}}}"  # pyright: ignore[reportUnknownVariableType]
        case Mapping():
            return f"{{{', '.join(f'{words(key)}: {words(each)}' for key, each in value.items())}}}"  # pyright: ignore[reportUnknownVariableType]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return _changed(value)
        case _:
            return repr(value)


def _changed(value: Any) -> str:
    """A record by the fields that are not at their defaults."""
    shown: list[str] = []
    for field in dataclasses.fields(value):
        given = getattr(value, field.name)
        if field.default is not dataclasses.MISSING:
            usual = field.default
        else:
            usual = None if field.default_factory is dataclasses.MISSING else field.default_factory()
        if given != usual:
            shown.append(f"{field.name}={words(given)}")
    return f"{type(value).__name__}({', '.join(shown)})"
