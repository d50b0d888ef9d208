"""What other processes do until they are killed, and how they tell of it."""

import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final

from klokka.core.ids import WorkerId
from klokka.core.records import NewJob
from klokka.core.states import Failed, Running, Succeeded
from klokka.errors import Busy, KlokkaError, UnknownOutcome
from klokka.spi.store import JobStore
from klokka.tck.processes.trap import Trap

BATCH: Final = 3
STOPS: Final = 4
KIND: Final = "tck.job"
QUEUE: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What a process is told."""

    reopen: Callable[[], JobStore]
    role: str
    name: str
    seed: int
    lease: timedelta


async def perform(orders: Orders) -> None:
    """Opens the store and does its part, for ever or to its end."""
    store = orders.reopen()
    await store.open()
    say("ready", {})
    await ROLES[orders.role](store, orders)
    await store.close()


def say(what: str, said: Any) -> None:
    """One line for the parent, with the time by the clock that all processes of a machine share."""
    sys.stdout.write(json.dumps([what, time.monotonic(), said], default=str) + "\n")
    sys.stdout.flush()


async def told(verb: str, about: Any, act: Awaitable[Any], answer: Callable[[Any], Any]) -> Any:
    """The answer of a verb, of whose beginning and end the parent is told; None if it was refused."""
    say("begin", [verb, about])
    try:
        result = await act
    except Busy:
        say("refused", [verb, about])
        return None
    except UnknownOutcome:
        say("unknown", [verb, about])
        return None
    except KlokkaError as error:
        say("failed", [verb, f"{type(error).__name__}: {error}"])
        raise
    say("end", [verb, about, answer(result)])
    return result


async def produce(store: JobStore, orders: Orders) -> None:
    """Enqueues batch after batch."""
    number = 0
    while True:
        number += 1
        payloads = [f"{orders.name}-{number}-{part}" for part in range(BATCH)]
        jobs = [NewJob(kind=KIND, payload=payload) for payload in payloads]
        await told("enqueue", payloads, store.enqueue(jobs), lambda results: [result.id for result in results])


async def work(store: JobStore, orders: Orders) -> None:
    """Claims, beats and settles; some claims it leaves to end by themselves."""
    random = Random(orders.seed)
    worker = WorkerId(orders.name)
    while True:
        claim = store.claim(queues=[QUEUE], kinds=[KIND], limit=BATCH, lease=orders.lease, worker=worker)
        jobs = await told("claim", [], claim, lambda jobs: [[job.id, job.fence, job.attempt] for job in jobs])
        for job in jobs or ():
            chance = random.random()
            if chance < 0.3:
                beat = store.heartbeat({job.id: job.fence}, worker=worker, extend=orders.lease)
                await told("heartbeat", [job.id, job.fence], beat, lambda held: bool(held))
            if chance > 0.9:
                continue
            to = Failed(timedelta(0)) if chance > 0.8 else Succeeded()
            settle = store.transition(job.id, from_=Running(), to=to, fence=job.fence)
            await told("settle", [job.id, job.fence, type(to).__name__], settle, bool)


async def stop_in_the_middle(store: JobStore, orders: Orders) -> None:
    """Claims a job of each queue in turn and puts it back, and stops itself each time at another part of that."""
    del store  # its threads were there before the trap
    trap = Trap(lambda: say("stops", {}))
    trap.set()
    random = Random(orders.seed)
    handle = orders.reopen()
    await handle.open()
    for _ in range(2):  # what the first time alone prepares is not counted
        trap.arm()
        await _claim_and_put_back(handle, orders, STOPS)
    length = trap.steps()
    for part in range(STOPS):
        trap.arm(int((part + random.random()) * length / STOPS))
        await _claim_and_put_back(handle, orders, part)
        say("goes on", {})
    await handle.close()


async def _claim_and_put_back(store: JobStore, orders: Orders, queue: int) -> None:
    worker = WorkerId(orders.name)
    jobs = await store.claim(queues=[f"queue-{queue}"], kinds=[KIND], limit=1, lease=orders.lease, worker=worker)
    for job in jobs:
        await store.transition(job.id, from_=Running(), to=Failed(timedelta(0)), fence=job.fence)


async def live_by_a_wrong_clock(store: JobStore, orders: Orders) -> None:
    """Once through the verbs that have to do with time."""
    await store.enqueue([NewJob(kind=KIND, payload="now"), NewJob(kind=KIND, payload="later", run_at=orders.lease)])
    await store.enqueue([NewJob(kind=KIND, payload="retry")])
    worker = WorkerId(orders.name)
    jobs = await store.claim(queues=[QUEUE], kinds=[KIND], limit=9, lease=orders.lease, worker=worker)
    for job in jobs:
        if job.payload == "retry":
            await store.transition(job.id, from_=Running(), to=Failed(orders.lease), fence=job.fence)
    held = await store.heartbeat({job.id: job.fence for job in jobs}, worker=worker, extend=orders.lease)
    say(
        "done",
        {
            "claimed": [job.payload for job in jobs],
            "enqueued_at": [job.enqueued_at.timestamp() for job in jobs],
            "held": [job.payload for job in jobs if job.id in held],
        },
    )


ROLES: Final[dict[str, Callable[[JobStore, Orders], Awaitable[None]]]] = {
    "produce": produce,
    "work": work,
    "stops": stop_in_the_middle,
    "skewed": live_by_a_wrong_clock,
}
