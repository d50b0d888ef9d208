"""transition and its batch: compare, and set."""

from collections.abc import Sequence

from klokka.core.changes import check_change
from klokka.core.ids import Fence, JobId
from klokka.core.records import Change, JobError
from klokka.core.states import State
from klokka.errors import Busy, UniqueConflict
from klokka.stores.postgres.changes import grouped, possible, rendered, reopens
from klokka.stores.postgres.database import Transaction
from klokka.stores.postgres.failures import KeyTakenError
from klokka.stores.postgres.handle import Handle

_REPETITIONS = 10


class Transitioning(Handle):
    """Implements `JobVerbs.transition` and `BatchingStore`."""

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
        change = Change(id=id, from_=from_, to=to, fence=fence, error=error, refund=refund)
        check_change(change)
        if not possible(change):
            return False
        if reopens(change):
            return await self._reopened(id, "transition_jobs", rendered([change]))
        return id in await self._applied([change])

    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        for change in changes:
            check_change(change)
        feasible = [change for change in changes if possible(change)]
        if len({change.id for change in feasible}) < len(feasible) or any(map(reopens, feasible)):
            done = await self._in_order(feasible)
            answers = iter(done)
            return [possible(change) and next(answers) for change in changes]
        applied = await self._applied(feasible) if feasible else set[JobId]()
        return [change.id in applied for change in changes]

    async def _applied(self, changes: Sequence[Change]) -> set[JobId]:
        """Which of these changes, of distinct jobs that stay as open or closed as they are, applied."""
        statements = grouped(changes)
        if len(statements) == 1:
            return {row[0] for row in await self._database.write(*statements[0])}

        async def act(tx: Transaction) -> set[JobId]:
            return {row[0] for statement in statements for row in await tx.run(*statement)}

        return await self._database.transact(act)

    async def _in_order(self, changes: Sequence[Change]) -> list[bool]:
        """One after another in one transaction: equal ids, and those that a unique key may forbid [batch.each]."""

        async def act(tx: Transaction) -> list[bool]:
            return [bool(await tx.attempt("transition_jobs", rendered([change]))) for change in changes]

        return await self._database.transact(act)

    async def _reopened(self, id: JobId, statement: str, parameter: str) -> bool:
        """Whether a terminal job was made live again.

        Raises:
            UniqueConflict: another live job holds its unique key [transition.reopen].
        """
        for _ in range(_REPETITIONS):
            try:
                return bool(await self._database.write(statement, parameter))
            except KeyTakenError as taken:
                rivals = await self._database.read("key_rival", str(id))
                if rivals:
                    ((holder,),) = rivals
                    raise UniqueConflict(
                        f"Job {id} cannot be opened again: job {holder} is live and holds its unique key. "
                        f"Wait until that one has ended, or cancel it.",
                        holder=holder,
                    ) from taken.__cause__
        raise Busy(f"others kept taking and giving back the unique key of job {id}. Nothing was written; try again.")
