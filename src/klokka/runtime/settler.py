"""Writes what became of jobs: in batches, through outages, one job's trouble never another's."""

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from typing import Final

from klokka.core.durations import spell
from klokka.core.records import Change, JobError
from klokka.core.states import JobStatus, Move
from klokka.errors import StoreError, UnknownOutcome
from klokka.runtime.bus import EventBus
from klokka.runtime.held import Held, HeldJobs
from klokka.runtime.job_events import tell_end, tell_lease_lost
from klokka.runtime.outages import Outage
from klokka.runtime.verdict import Result, Verdict, verdict
from klokka.spi.batch import BatchingStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore

logger = logging.getLogger("klokka.settler")

_BATCH: Final = 1000
_SINGLES_AT_ONCE: Final = 16

_Answer = bool | Exception


class Settler:
    """Stores verdicts in the order in which they came.

    A batch is what gathered while the previous write was on its way; nothing waits when no write is. Through an
    outage results are kept and tried again while their lease can be proven, and discarded as lost after it. A job
    whose change the store refuses fails with that refusal. Belongs to the loop.
    """

    def __init__(self, store: JobStore, held: HeldJobs, bus: EventBus) -> None:
        self._store = store
        self._batching = store if isinstance(store, BatchingStore) else None
        self._queryable = store if isinstance(store, QueryableStore) else None
        self._held = held
        self._bus = bus
        self._pending: list[tuple[Held, Verdict]] = []
        self._wake = asyncio.Event()
        self._moved = asyncio.Event()
        self._put = 0
        self._done = 0
        self._outage = Outage("writing results to the store")

    def settle(self, held: Held, made: Verdict) -> None:
        """Takes a verdict to write; returns at once."""
        self._pending.append((held, made))
        self._put += 1
        self._wake.set()

    @property
    def backlog(self) -> int:
        """How many verdicts wait or are on their way."""
        return self._put - self._done

    async def flushed(self) -> None:
        """Returns when all that was put before is written or discarded."""
        until = self._put
        while self._done < until:
            self._moved.clear()
            await self._moved.wait()

    async def run(self) -> None:
        """Writes until cancelled."""
        while True:
            if not self._pending:
                self._wake.clear()
                await self._wake.wait()
            batch = self._pending[:_BATCH]
            again = await self._attempt(batch)
            self._pending[: len(batch)] = again
            self._done += len(batch) - len(again)
            self._moved.set()

    async def _attempt(self, batch: Sequence[tuple[Held, Verdict]]) -> list[tuple[Held, Verdict]]:
        """One try at a batch; gives what must be tried again, after having waited a little."""
        live = self._provable(batch)
        answers = await self._write([made.change for _, made in live])
        again: list[tuple[Held, Verdict]] = []
        refused: list[Held] = []
        failure: StoreError | None = None
        for (held, made), answer in zip(live, answers, strict=True):
            if answer is True or (answer is False and held.doubtful and await self._was_written(held)):
                self._close(held, made)
            elif answer is False:
                refused.append(held)
            elif isinstance(answer, StoreError):
                failure = answer
                held.doubtful = held.doubtful or isinstance(answer, UnknownOutcome)
                again.append((held, made))
            else:
                again.extend(self._failed_instead(held, made, answer))
        self._discard(refused, "the store does not hold them for this worker any more")
        if failure is not None:
            await asyncio.sleep(self._outage.failed(failure))
        elif live:
            self._outage.over()
        return again

    def _provable(self, batch: Sequence[tuple[Held, Verdict]]) -> list[tuple[Held, Verdict]]:
        """The part of a batch whose leases still hold by our own clock; the rest is discarded."""
        now = time.monotonic()
        over = [held for held, _ in batch if held.deadline <= now]
        if not over:
            return list(batch)
        self._discard(over, "their leases ended before they could be written")
        return [(held, made) for held, made in batch if held.deadline > now]

    # Writing

    async def _write(self, changes: Sequence[Change]) -> Sequence[_Answer]:
        """An answer for each change: whether it applied, or why it is not known to have."""
        if not changes:
            return []
        if self._batching is not None:
            try:
                return await self._batching.transition_many(changes)
            except StoreError as error:
                return [error] * len(changes)
            except Exception:  # one of them is refused: singly it spoils no other
                logger.debug("a batch of %d results was refused; writing them singly", len(changes), exc_info=True)
        answers: list[_Answer] = []
        for start in range(0, len(changes), _SINGLES_AT_ONCE):
            answers += await asyncio.gather(*map(self._write_one, changes[start : start + _SINGLES_AT_ONCE]))
        return answers

    async def _write_one(self, change: Change) -> _Answer:
        try:
            return await self._store.transition(
                change.id,
                from_=change.from_,
                to=change.to,
                fence=change.fence,
                error=change.error,
                refund=change.refund,
            )
        except Exception as error:  # judged by the caller
            return error

    async def _was_written(self, held: Held) -> bool:
        """After an unknown outcome and then a False: whether the first write had applied.

        With our fence and no longer running, it was ours. Where the store cannot be asked, that is assumed, since a
        repetition under a fence changes nothing either way.
        """
        if self._queryable is None:
            return True
        try:
            details = await self._queryable.get_job(held.job.id)
        except StoreError:
            return True
        return (
            details is not None and details.fence == held.job.fence and details.summary.status is not JobStatus.RUNNING
        )

    # What follows

    def _close(self, held: Held, made: Verdict) -> None:
        self._held.drop(held)
        tell_end(self._bus, made, held.job, held.ran)
        error = made.change.error
        if error is not None and made.error is not None:
            _log_failure(held, made, error)

    def _failed_instead(self, held: Held, made: Verdict, refusal: Exception) -> Iterable[tuple[Held, Verdict]]:
        if made.error is refusal or made.move in (Move.RETRY_BOOKED, Move.GIVEN_UP, Move.HANDED_BACK):
            logger.error(
                "the store refuses what became of job %d (%s); its lease will run out and it will be claimed again",
                held.job.id,
                held.job.kind,
                exc_info=refusal,
            )
            self._held.drop(held)
            return ()
        return ((held, verdict(Result(error=refusal, ran=held.ran), held.job, held.handler)),)

    def _discard(self, lost: Sequence[Held], why: str) -> None:
        if not lost:
            return
        for held in lost:
            self._held.drop(held)
            if held.ran:
                tell_lease_lost(self._bus, held.job, held.ran)
        logger.warning(
            "the results of %d jobs are discarded, since %s (%s)",
            len(lost),
            why,
            ", ".join(f"{held.job.id} {held.job.kind}" for held in lost[:5]) + (", …" if len(lost) > 5 else ""),
        )


def _log_failure(held: Held, made: Verdict, error: JobError) -> None:
    """Says it in the text that was stored, which is bounded, whatever the exception is."""
    job = held.job
    if made.move is Move.GIVEN_UP:
        logger.error(
            "job %d (%s) went to the dead letters at attempt %d: %s: %s\n%s",
            *(job.id, job.kind, job.attempt, error.type, error.message, error.traceback),
        )
    else:
        logger.warning(
            "job %d (%s) failed at attempt %d and runs again in %s: %s: %s",
            *(job.id, job.kind, job.attempt, spell(made.wait), error.type, error.message),
        )
    if made.policy_failure is not None:
        logger.error(
            "the retry policy of job %d (%s) failed; the job is tried again in %s instead. Mend the policy.",
            *(job.id, job.kind, spell(made.wait)),
            exc_info=made.policy_failure,
        )
