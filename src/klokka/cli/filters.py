"""The filters by which commands choose jobs."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from klokka.cli.parameters import KEY, KIND, QUEUE, STATUS
from klokka.core.ids import ScheduleId
from klokka.core.records import JobQuery
from klokka.core.states import JobStatus

T = TypeVar("T")


def filter_options(command: Callable[..., T]) -> Callable[..., T]:
    """Gives a command the options that choose jobs, as its parameter `query`."""

    @functools.wraps(command)
    def filtered(
        *,
        status: str | None,
        kind: str | None,
        queue: str | None,
        key: str | None,
        schedule: ScheduleId | None,
        **others: Any,
    ) -> T:
        query = JobQuery(
            status=None if status is None else JobStatus(status),
            kind=kind,
            queue=queue,
            unique_key=key,
            schedule_id=schedule,
        )
        return command(query=query, **others)

    chosen: Callable[..., T] = filtered
    for option in (
        click.option("--schedule", type=KEY, help="Only jobs of this schedule."),
        click.option("--key", type=KEY, help="Only jobs with this unique key."),
        click.option("--queue", type=QUEUE, help="Only jobs in this queue."),
        click.option("--kind", type=KIND, help="Only jobs of this kind."),
        click.option("--status", type=STATUS, help="Only jobs in this state."),
    ):
        chosen = option(chosen)
    return chosen


def spell_filters(query: JobQuery) -> str:
    """The filters that are set, as the options that set them."""
    named = {
        "--status": query.status,
        "--kind": query.kind,
        "--queue": query.queue,
        "--key": query.unique_key,
        "--schedule": query.schedule_id,
    }
    return " ".join(f"{option} {value}" for option, value in named.items() if value is not None)
