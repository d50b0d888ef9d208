"""Each deeper layer catches, by itself, stores whose faults are of its sort, and tells of them in few steps."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from itertools import count
from typing import Any, ClassVar

import pytest

from klokka.core.records import ClaimedJob, EnqueueResult, NewJob
from klokka.stores._clock import system_clock
from klokka.stores.memory.store import MemoryStore
from klokka.stores.sqlite.store import SqliteStore
from klokka.tck.checks import every_check, machine
from klokka.tck.report import Failed, Passed, Result, Skipped
from klokka.tck.run import run_check
from klokka.tck.subject import Factory, Subject
from klokka.tck.violations import Violation
from klokka.tck.words import words
from tests.tck.saboteurs import SABOTEURS, deaths, races
from tests.tck.saboteurs.registry import FACTORIES

BOUND = timedelta(seconds=60)


async def results_of(layer_name: str, factory: Factory, word: str = "", seed: int = 1) -> list[Result]:
    checks = [check for check in every_check() if check.layer == layer_name and word in check.name]
    return [await run_check(check, factory, seed=seed, bound=BOUND) for check in checks]


def broken(results: list[Result]) -> set[str]:
    return {clause for result in results if isinstance(result, Failed) for clause in result.clauses}


def story(results: list[Result]) -> int:
    """How many steps the shortest account of a violation has."""
    return min(
        len(result.error.story)
        for result in results
        if isinstance(result, Failed) and isinstance(result.error, Violation)
    )


def saboteur(name: str, base: str) -> Factory:
    return next(each.factory for each in SABOTEURS if (each.name, each.base) == (name, base))


@pytest.mark.parametrize(
    ("name", "word", "clause"),
    [
        ("CountsNoLapses", "jobs", "claim.lapses"),
        ("ForgetsTheEndsOfLeases", "jobs", "claim.next-due"),
        ("AcceptsAnyFence", "schedules", "schedule.fence"),
        ("MovesBackToo", "names", "lease.cursor"),
    ],
)
async def test_the_machine_finds_a_fault_of_many_steps_and_makes_the_script_short(
    name: str, word: str, clause: str
) -> None:
    for seed in range(4):  # which scripts are played is a matter of chance
        results = await results_of("machine", saboteur(name, "memory"), word, seed)
        if broken(results):
            break

    assert clause in broken(results)
    assert story(results) < 20


async def test_the_machine_plays_the_same_script_for_the_same_seed() -> None:
    factory = saboteur("GivesOneMore", "memory")

    first, second = [await results_of("machine", factory, "jobs", seed=7) for _ in range(2)]

    assert isinstance(first[0], Failed)
    assert isinstance(second[0], Failed)
    assert str(first[0].error) == str(second[0].error)


async def test_a_seed_plays_the_same_scripts_on_a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PLAYS", 20)

    class Slow(MemoryStore):
        async def claim(self, **arguments: Any) -> list[ClaimedJob]:
            await asyncio.sleep(0.02)
            return await super().claim(**arguments)

    class Counts(MemoryStore):
        calls: ClassVar[list[str]] = []

        async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
            self.calls.append(words(jobs))
            return await super().enqueue(jobs)

    class CountsSlowly(Counts, Slow):
        calls: ClassVar[list[str]] = []

    for store in (Counts, CountsSlowly):
        assert isinstance((await results_of("machine", FACTORIES[MemoryStore](store), "any_verbs"))[0], Passed)

    assert Counts.calls == CountsSlowly.calls


async def test_a_machine_too_slow_for_all_plays_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "WITHIN", timedelta(0))

    results = await results_of("machine", FACTORIES[MemoryStore](MemoryStore), "schedules")

    assert [result.shortened for result in results if isinstance(result, Passed)] == ["0 plays of 100 in 0 s"]


async def test_the_machine_is_skipped_where_the_clock_is_in_nobodys_hand() -> None:
    @asynccontextmanager
    async def bare() -> AsyncGenerator[Subject]:
        yield Subject(store=MemoryStore())

    results = await results_of("machine", bare)

    assert [type(result) for result in results] == [Skipped] * len(results)
    assert {result.reason for result in results if isinstance(result, Skipped)} == {"the factory gives no `advance`"}


@pytest.mark.parametrize("seed", range(3))
async def test_a_machine_that_stalls_in_the_middle_of_a_history_is_no_alarm(seed: int) -> None:
    reading = count()

    def stalling() -> datetime:
        return system_clock() + next(reading) // 100 * timedelta(seconds=10)

    @asynccontextmanager
    async def bare() -> AsyncGenerator[Subject]:
        yield Subject(store=MemoryStore(clock=stalling))

    assert not broken(await results_of("history", bare, "", seed))


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        (races.SelectsAndThenClaims, "job"),
        (races.ReadsTheStateAndThenWrites, "job"),
        (races.LooksForTheRecordAndThenWrites, "idempotency"),
        (races.LooksForTheOwnerAndThenTakes, "lease"),
        (races.LooksForFiresAndThenClaimsThem, "schedule"),
        (races.ReadsTheFenceAndThenCompletes, "schedule"),
    ],
)
async def test_a_history_has_no_order_where_a_store_looks_first_and_acts_later(
    fault: type[SqliteStore], word: str
) -> None:
    for seed in range(4):  # a race is a matter of chance
        if broken(await results_of("history", FACTORIES[SqliteStore](fault), word, seed)):
            return
    pytest.fail("every history has an order")


@pytest.mark.parametrize(
    ("fault", "word", "clause"),
    [
        (deaths.AnswersBeforeItWrites, "killed", "life.durable"),
        (deaths.StoresABatchInTwoCommits, "killed", "enqueue.atomic"),
        (deaths.KnowsItsOwnClaimsAlone, "killed", "claim.exclusive"),
        (deaths.LocksAFileWhileItClaims, "stopped_in_the_middle", "claim.wait-free"),
        (deaths.HidesWhatItIsAboutToGive, "stopped_in_the_middle", "claim.wait-free"),
    ],
)
async def test_killed_and_stopped_processes_betray_a_store_that_lies_to_them(
    fault: type[SqliteStore], word: str, clause: str
) -> None:
    seen: set[str] = set()
    for seed in range(3):
        seen |= broken(await results_of("process", FACTORIES[SqliteStore](fault), word, seed))
        if clause in seen:
            break

    assert clause in seen


@pytest.mark.parametrize(
    ("fault", "clause"),
    [
        (deaths.StoresABatchInTwoCommits, "life.cancel"),
        (deaths.CompletesInTwoCommits, "life.cancel"),
        (deaths.KeepsItsPlaceWhenCancelled, "life.cancel"),
        (deaths.ClaimsRowByRow, "life.cancel"),
        (races.ClaimsTheKeyInATransactionOfItsOwn, "key.atomic"),
    ],
)
async def test_a_verb_cancelled_between_two_of_its_steps_shows_that_it_has_two(
    fault: type[SqliteStore], clause: str
) -> None:
    results = await results_of("cancellation", FACTORIES[SqliteStore](fault))

    assert clause in broken(results)
