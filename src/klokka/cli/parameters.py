"""The sorts of values that commands take, each refused with what, which and what next."""

from collections.abc import Callable
from typing import Final, TypeVar

import click

from klokka.cli.durations import parse_duration
from klokka.cli.text import shown
from klokka.cli.times import parse_instant
from klokka.core.ids import MAX_ID, JobId, ScheduleId
from klokka.core.names import check_key, check_kind, check_queue, check_text, clip
from klokka.core.queues import Queue
from klokka.core.states import JobStatus
from klokka.errors import InvalidInput

T = TypeVar("T")


def _value(name: str, parse: Callable[[str], T]) -> Callable[[str], T]:
    """`parse` as a click type: what it refuses becomes a usage error that names the option."""

    def value(text: str) -> T:
        try:
            return parse(text)
        except InvalidInput as error:
            raise click.BadParameter(shown(str(error))) from error

    value.__name__ = name  # how help calls the value
    return value


def _job_id(text: str) -> JobId:
    if text.isascii() and text.isdigit() and len(text) < 20 and 0 < int(text) <= MAX_ID:
        return JobId(int(text))
    raise InvalidInput(f"{clip(text)!r} is no id of a job. An id is a number from 1 to {MAX_ID}.")


def _queue_and_cap(text: str) -> Queue:
    name, equals, cap = text.partition("=")
    if not equals:
        return Queue(name)
    if not (cap.isascii() and cap.isdigit() and len(cap) < 10):
        raise InvalidInput(f"the cap {clip(cap)!r} of queue {clip(name)!r} is no number. Write it like {clip(name)}=4.")
    return Queue(name, int(cap))


JOB_ID: Final = _value("ID", _job_id)
DURATION: Final = _value("DURATION", parse_duration)
INSTANT: Final = _value("INSTANT", parse_instant)
KIND: Final = _value("KIND", check_kind)
QUEUE: Final = _value("NAME", check_queue)
QUEUE_AND_CAP: Final = _value("NAME[=CAP]", _queue_and_cap)
SCHEDULE: Final = _value("ID", lambda text: ScheduleId(check_key("schedule id", text)))
KEY: Final = _value("KEY", lambda text: check_key("key", text))
TEXT: Final = _value("TEXT", lambda text: check_text("text", text))
STATUS: Final = click.Choice([status.value for status in JobStatus])
