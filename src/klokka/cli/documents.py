"""Records as JSON documents: the field names of the records, ids and fences as text, instants in UTC."""

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

import click

from klokka.cli.times import stamp

_AS_TEXT: Final = frozenset({"id", "fence"})
"""Numbers of up to 63 bits, which many readers of JSON would round."""


def document(value: object) -> Any:
    """`value` in JSON's own types: records become objects, instants stamps, durations seconds."""
    match value:
        case datetime():
            return stamp(value)
        case timedelta():
            return value.total_seconds()
        case enum.Enum():
            return value.value
        case Mapping():
            members = cast(Mapping[str, object], value)
            return {str(name): _field(name, member) for name, member in members.items()}
        case list() | tuple():
            return [document(part) for part in cast(Sequence[object], value)]
        case _ if is_dataclass(value):
            return {field.name: _field(field.name, getattr(value, field.name)) for field in fields(value)}
        case _:
            return value


def flat(record: Any, part: str) -> dict[str, Any]:
    """`record` as one object, with the fields of its `part` first and beside its own."""
    rest = document(record)
    return {**rest.pop(part), **rest}


def print_json(value: Any) -> None:
    """Prints one document in plain ASCII, so that every terminal and encoding carries it unchanged."""
    click.echo(json.dumps(document(value), indent=2, allow_nan=False))


def _field(name: Any, value: Any) -> Any:
    return str(value) if name in _AS_TEXT and value is not None else document(value)
