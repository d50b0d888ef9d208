"""The verbs of jobs: enqueue, claim, heartbeat, transition, sweep."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, Protocol

from klokka.core.ids import Fence, JobId, WorkerId
from klokka.core.records import ClaimedJob, EnqueueResult, JobError, NewJob, RetentionPolicy, SweepReport
from klokka.core.states import State

NO_CAPS: Final[Mapping[str, int]] = MappingProxyType({})


class JobVerbs(Protocol):
    """What every store does with jobs."""

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        """Stores all of `jobs` or none.

        [enqueue.order] One result for each job, in the order of the input.
        [enqueue.empty] Nothing in, nothing out, no round trip.
        [enqueue.atomic] All are stored or none.
        [enqueue.ids] Ids are positive, below 2**63, never given twice even after a sweep, and grow: those of a call
        that had returned are smaller than those of a call that began after it, and they rise with the input.
        [enqueue.state] Due not in the future: `Enqueued`; in the future: `Scheduled`. Promotion is the store's concern.
        [enqueue.unique] A key held by a job that is not terminal gives the holder's id, `created` false, and leaves
        the holder untouched. The key is global to the store.
        [enqueue.unique-batch] The same key twice in one call: the first wins, both positions get its id.
        [enqueue.unique-life] A key is held from here until its job is terminal, through running, failing, retrying.
        [enqueue.unique-race] Any number of callers: one row, one id, no error; if the winner rolls back, one of those
        who waited inserts.
        [enqueue.bounded] Waiting for somebody's uncommitted key or for the writer's place ends after `traits.bound`.
        [enqueue.text] Any text comes back character for character; a raw NUL or a lone surrogate is refused.
        [enqueue.headers] Headers come back as they were given.
        [enqueue.limits] Beyond `traits.limits` nothing is written.

        Raises:
            InvalidInput: or one of its kinds; nothing was written.
            Busy: the wait is over; nothing was written.
            UnknownOutcome: the connection broke meanwhile. With unique keys a repetition is safe.
        """
        ...

    async def claim(
        self,
        *,
        queues: Sequence[str],
        kinds: Collection[str],
        limit: int,
        lease: timedelta,
        worker: WorkerId,
        caps: Mapping[str, int] = NO_CAPS,
    ) -> list[ClaimedJob]:
        """Takes up to `limit` due jobs under a lease that nobody else holds.

        [claim.exclusive] No two unexpired leases on a job, whatever the number of callers, processes and machines.
        [claim.due] Nothing before its time; due exactly now is due. Time decides, not state.
        [claim.expired] A `Running` job whose lease has ended, or that has none, may be claimed by anyone.
        [claim.queue-order] While an earlier queue has a due job of these kinds, no later queue gives one.
        [claim.order] Within a queue: ended leases first, earliest end first; then by due time; then by id.
        The list comes back in that order, queue by queue.
        [claim.exact] With no other verb in flight, exactly the first `limit` of that order.
        [claim.look-back] Where much that is finished stands before what is claimable, claims may begin where those of
        this handle have given all. What becomes claimable behind that place then counts from when the store looks back,
        once in `traits.looks_back` or in ten times what that takes, and `next_due` is no later than that.
        [claim.kinds] Only these kinds; others are not touched and not counted, however many stand in front.
        [claim.kinds-empty] No kinds or no queues, no jobs.
        [claim.limit] At most `limit`; zero gives nothing, a negative number is an error.
        [claim.caps] At most `caps[queue]` from a queue; the rest of `limit` goes on to the next.
        [claim.attempt] Each claim adds one to `attempt`; the first gives 1.
        [claim.lapses] A claim that takes over an ended lease adds one to `lapses`.
        [claim.fence] Each claim's fence is greater than every earlier one of that job, through everything.
        [claim.lease] `lease_until` is the store's now plus `lease`.
        [claim.scheduled-for] `scheduled_for` is the first `run_at`; retries and snoozes do not change it.
        [claim.wait-free] A claimer stopped inside a verb holds up others for at most `traits.bound`. Where rows are locked
        one by one, those that somebody else has locked are passed over.

        Raises:
            InvalidInput: a negative `limit` or cap, or a `lease` that is not longer than nothing.
        """
        ...

    async def next_due(self, *, queues: Sequence[str], kinds: Collection[str]) -> datetime | None:
        """The earliest time at which such a claim would give something, by the clock.

        [claim.next-due] Ended and running leases count, paused queues do not; None if nothing waits. A time in the
        past means now.
        """
        ...

    async def heartbeat(self, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
        """Keeps the leases of the jobs that `worker` still holds, and says which those are.

        [heartbeat.extends] Each held lease ends at the store's now plus `extend`, or later if it did already.
        [heartbeat.held] Returns exactly the ids still held. A missing one is lost for good, and its handler must stop:
        unknown, another's, another fence, no longer running, or ended. An ended lease is never revived here.
        [heartbeat.quiet] Nothing but the lease changes.
        """
        ...

    async def transition(
        self,
        id: JobId,
        *,
        from_: State,
        to: State,
        fence: Fence | None = None,
        error: JobError | None = None,
        refund: bool = False,
    ) -> bool:
        """Moves the job from `from_` to `to` if it is still there, and says whether it did.

        [transition.cas] Applies only if the stored state is `from_`, and its time too where one is given. An unknown
        id is False. States are compared and reported as stored.
        [transition.fence] With a fence, only if the stored one is equal. An ended lease alone refuses nothing.
        [transition.any-edge] The store judges no edge, except that `to=Running` is refused: only `claim` runs jobs.
        [transition.times] `Enqueued` is due now; `Scheduled` and `Failed` at their time, required. `retry_at`,
        `terminal_at` and lease with holder are set in `Failed`, in terminal states and in `Running` alone.
        [transition.once] Of any number of callers with the same `from_`, one gets True.
        [transition.error] `error` is kept as `last_error`; none given keeps the last one. No error text can make it
        fail: NUL and surrogates are replaced, long text is cut with a mark.
        [transition.refund] Takes one from `attempt`, never from the fence; only from `Running` with a fence.
        [transition.restart] Leaving a terminal state for one that is not sets `attempt` and `lapses` to 0 and clears
        `terminal_at`; fence, `enqueued_at`, `scheduled_for` and `last_error` stay.
        [transition.reopen] Raises and changes nothing where another live job holds the unique key now.

        Raises:
            InvalidInput: `to=Running`, a missing time, a duration in `from_`, or `refund` without its conditions.
            UniqueConflict: see [transition.reopen].
            UnknownOutcome: the connection broke meanwhile; a repetition with a fence is safe and may answer False.
        """
        ...

    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        """Deletes what is older than its retention, at most `limit` rows of each sort.

        [sweep.retention] Terminal jobs older than their retention by the store's clock, and idempotency records past
        their ttl, and nothing else. The deleting statement checks again, so that a reopened job survives.
        [sweep.bounded] One bounded step, safe to stop and to run twice at once; `more` says whether some is left.
        """
        ...
