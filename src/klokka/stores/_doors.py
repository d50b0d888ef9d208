"""What verbs refuse before they reach a thread: names, texts, spans and counts."""

from collections.abc import Collection, Sequence
from datetime import timedelta

from klokka.core.ids import MAX_ID, Fence, JobId
from klokka.core.instants import aware, positive
from klokka.core.limits import Limits
from klokka.core.names import check_bytes, check_key, check_kind, check_text
from klokka.core.records import JobQuery
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.worker_records import WorkerBeat
from klokka.errors import InvalidInput


def known_id(id: int) -> bool:
    """Whether this store can have issued such an id [life.arguments]."""
    return 0 < id <= MAX_ID


def known_fence(fence: Fence) -> bool:
    """Whether this store can have issued such a fence."""
    return 0 <= fence <= MAX_ID


def plausible(held: dict[JobId, Fence]) -> dict[JobId, Fence]:
    """Those of `held` that this store can have given out."""
    return {job: fence for job, fence in held.items() if known_id(job) and known_fence(fence)}


def check_count(what: str, count: int) -> None:
    """Returns if `count` is not negative."""
    if count < 0:
        raise InvalidInput(f"{what} is {count}. Give zero or more.")


def check_holding(worker: str, lease: timedelta, limit: int, what: str = "lease") -> None:
    """Returns if a claim of jobs or schedules asks for something that can be given."""
    check_key("worker", worker)
    positive(lease, what)
    check_count("limit", limit)


def check_query(query: JobQuery) -> None:
    """Returns if a page can be looked for."""
    check_count("limit", query.limit)
    check_count("offset", query.offset)
    for what, text in (("kind", query.kind), ("queue", query.queue), ("unique_key", query.unique_key)):
        if text is not None:
            check_text(what, text)
    if query.schedule_id is not None:
        check_text("schedule_id", query.schedule_id)


def check_specs(specs: Sequence[ScheduleSpec], limits: Limits) -> None:
    """Returns if every definition may be written."""
    for spec in specs:
        check_key("schedule id", spec.id, limits.name)
        check_kind(spec.kind)
        check_text("fingerprint", spec.fingerprint)
        check_text("description", spec.description)
        if spec.fire_at is not None:
            aware(spec.fire_at, "fire_at")


def check_beat(worker: WorkerBeat) -> None:
    """Returns if what a worker says of itself may be written."""
    check_key("worker", worker.id)
    check_text("host", worker.host)
    check_text("version", worker.version)
    check_texts("queue", worker.queues)
    check_texts("kind", worker.kinds)
    check_texts("schedule id", worker.schedules)


def check_texts(what: str, texts: Collection[str]) -> None:
    """Returns if each may be written."""
    for text in texts:
        check_text(what, text)


def check_reason(reason: str, limits: Limits) -> None:
    """Returns if a reason may be written."""
    check_bytes("reason", reason, limits.headers)
