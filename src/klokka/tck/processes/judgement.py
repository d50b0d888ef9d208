"""What must be true of the deeds of processes that were killed and stopped."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from klokka.core.ids import JobId
from klokka.core.records import JobDetails
from klokka.core.states import JobStatus
from klokka.tck.processes.deeds import Deed, of_verb
from klokka.tck.processes.roles import BATCH
from klokka.tck.violations import Violation

_DRIFT: Final = 0.05
"""Seconds by which the store's clock and the one of the deeds may go apart within a check."""


def judge_batches(deeds: Iterable[Deed], stored: Mapping[JobId, JobDetails]) -> None:
    """What was acknowledged is there, and of each batch all or nothing [life.durable] [enqueue.atomic]."""
    payloads = Counter(job.payload for job in stored.values())
    for deed in deeds:
        if deed.verb != "enqueue":
            continue
        there = [payloads[payload] for payload in deed.about]
        if deed.known and not deed.refused:
            ids = [JobId(id_) for id_ in deed.answer]
            if any(id_ not in stored for id_ in ids):
                raise Violation(
                    "an enqueue that returned outlives the process that called it",
                    seen=[id_ for id_ in ids if id_ in stored],
                    expected=ids,
                    clauses=("life.durable",),
                )
        if there not in ([0] * BATCH, [1] * BATCH) or (deed.refused and any(there)):
            raise Violation(
                "a call stores all of its jobs once or none, though its process was killed",
                seen=dict(zip(deed.about, there, strict=True)),
                expected="all or none",
                clauses=("enqueue.atomic",),
            )


def judge_claims(deeds: Sequence[Deed], lease: timedelta) -> None:
    """No two leases on a job at once, and fences that grow with every claim [claim.exclusive] [claim.fence]."""
    claims: dict[int, list[tuple[int, int, Deed]]] = {}
    for deed in of_verb(deeds, "claim"):
        for id_, fence, attempt in deed.answer:
            claims.setdefault(id_, []).append((fence, attempt, deed))
    for id_, of_job in claims.items():
        of_job.sort(key=lambda claim: claim[0])
        for (fence, attempt, first), (later_fence, later_attempt, second) in itertools.pairwise(of_job):
            if later_fence == fence or later_attempt <= attempt:
                _violated("each claim has a higher fence and one more attempt", id_, [first, second], "claim.fence")
            if second.ended < _free_from(deeds, id_, fence, first, lease) - _DRIFT:
                _violated("no two unexpired leases on a job", id_, [first, second], "claim.exclusive")


def judge_settlements(deeds: Sequence[Deed], stored: Mapping[JobId, JobDetails]) -> None:
    """What was settled stays settled, by the holder of the current fence alone [life.durable] [transition.fence]."""
    newest: dict[int, list[tuple[int, Deed]]] = {}
    for deed in of_verb(deeds, "claim"):
        for id_, fence, _ in deed.answer:
            newest.setdefault(id_, []).append((fence, deed))
    for deed in of_verb(deeds, "settle"):
        id_, fence, to = deed.about
        if not deed.answer:
            continue
        later = [claim for other, claim in newest.get(id_, []) if other > fence and claim.ended < deed.begun]
        if later:
            _violated("a claim that was taken over settles nothing", id_, [later[0], deed], "transition.fence")
        job = stored.get(JobId(id_))
        if to == "Succeeded" and (job is None or job.summary.status is not JobStatus.SUCCEEDED):
            raise Violation(
                f"a transition of job {id_} that returned outlives the process that called it",
                seen=job,
                expected=JobStatus.SUCCEEDED,
                clauses=("life.durable",),
            )


def judge_waits(deeds: Iterable[Deed], stops: Mapping[str, Sequence[tuple[float, float]]], bound: timedelta) -> None:
    """Nobody was held up for longer than the bound by one who was stopped or killed [claim.wait-free]."""
    for deed in deeds:
        stood = sum(
            max(0.0, min(until, deed.ended) - max(since, deed.begun)) for since, until in stops.get(deed.actor, ())
        )
        if deed.known and deed.ended - deed.begun - stood > bound.total_seconds():
            raise Violation(
                "whoever is stopped inside of a verb holds up others for no longer than the store's bound",
                seen=str(deed),
                expected=f"no longer than {bound}, a slow machine's patience included",
                clauses=("claim.wait-free",),
            )


def _free_from(deeds: Iterable[Deed], id_: int, fence: int, claim: Deed, lease: timedelta) -> float:
    """The earliest moment at which the claim can have been over: settled, or its lease not renewed any more."""
    until = claim.begun + lease.total_seconds()
    settled = math.inf
    for deed in deeds:
        if deed.verb == "settle" and deed.about[:2] == [id_, fence]:
            settled = deed.begun
        elif deed.verb == "heartbeat" and deed.about == [id_, fence] and deed.known and deed.answer:
            until = max(until, deed.begun + lease.total_seconds())
    return min(settled, until)


def _violated(why: str, id_: int, deeds: Sequence[Deed], clause: str) -> None:
    violation = Violation(f"{why}: job {id_}", seen=str(deeds[-1]), expected="nothing like it", clauses=(clause,))
    violation.story = [str(deed) for deed in deeds]
    raise violation
