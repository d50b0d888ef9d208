"""The kit catches what only a server with many sessions at once brings to light: slips in our own statements on PostgreSQL."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest
from psycopg import AsyncConnection

from klokka.stores._sql.statements import statement
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.setting import Setting
from klokka.stores.postgres.store import PostgresStore
from klokka.tck.report import Failed
from klokka.tck.run import run_check
from klokka.tck.subject import Subject
from tests.support.postgres import fresh_database
from tests.support.subjects import BOUND
from tests.support.transactions import psycopg_lock
from tests.tck.coverage import checks_of

PAIRED = """(job.id, job.fence) in (
select pair.id, pair.fence
from unnest($1::text::bigint[], $2::text::bigint[]) as pair (id, fence)
)"""
ANY_OF_ANY = "job.fence = any($2::text::bigint[])"
SKIP = "for update skip locked"
REPEATED = "coalesce(own.id, twin.id, holder.id, {schema}.unseen_holder(given.unique_key))"
CONFLICT = "on conflict (unique_key) where unique_key is not null and terminal_at is null do nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """A statement in which one text stands for another, and the clause that it breaks."""

    clause: str
    name: str
    statement: str
    said: str
    says: str


SLIPS = [
    Slip(clause="claim.wait-free", name="waits for locked jobs", statement="claim_jobs", said=SKIP, says="for update"),
    Slip(clause="claim.exclusive", name="claims without locks", statement="claim_jobs", said=SKIP, says=""),
    Slip(clause="heartbeat.held", name="any of any", statement="extend_leases", said=PAIRED, says=ANY_OF_ANY),
    Slip(clause="batch.each", name="any of any", statement="settle_jobs", said=PAIRED, says=ANY_OF_ANY),
    Slip(clause="enqueue.unique-race", name="inserts unseen", statement="enqueue_keyed_jobs", said=CONFLICT, says=""),
    Slip(
        clause="enqueue.unique-race",
        name="believes its snapshot",
        statement="enqueue_keyed_jobs",
        said=REPEATED,
        says="coalesce(own.id, twin.id, holder.id, 0)",
    ),
    Slip(
        clause="enqueue.unique-batch",
        name="takes the last of equal keys",
        statement="enqueue_keyed_jobs",
        said='unique_key collate "C", place\n)',
        says='unique_key collate "C", place desc\n)',
    ),
    Slip(
        clause="wakeups.commit",
        name="keeps silent",
        statement="enqueue_jobs",
        said="pg_notify({channel}, '')::text",
        says="null::text",
    ),
    Slip(
        clause="claim.order",
        name="lets chance decide among equal times",
        statement="claim_jobs",
        said="order by head.at, head.id",
        says="order by head.at, head.id % 7",
    ),
    Slip(
        clause="fleet.beat",
        name="forgets with the next beat",
        statement="beat",
        said="worker.live_until < tick.now - interval '24 hours'",
        says="worker.live_until < tick.now",
    ),
    Slip(
        clause="tx.unique",
        name="locks the holder of a key",
        statement="enqueue_keyed_jobs",
        said="limit 1 -- what is limited",
        says="limit 1 for update -- what is limited",
    ),
    *(
        Slip(
            clause="time.store-clock",
            name=f"takes the transaction's time for {each}",
            statement=each,
            said="select clock_timestamp() as now",
            says="select now() as now",
        )
        for each in ("enqueue_jobs", "enqueue_keyed_jobs")
    ),
    Slip(
        clause="schedule.complete",
        name="keeps the fence",
        statement="complete_fire",
        said="lease_until = null,\nholder = null,\nfence = fence + 1",
        says="fence = fence",
    ),
    Slip(
        clause="key.once",
        name="asks and then writes",
        statement="claim_key",
        said="where record.expires_at <= clock_timestamp()",
        says="where true",
    ),
    Slip(
        clause="key.owner",
        name="releases claims that are over",
        statement="release_key",
        said=" and expires_at > clock_timestamp()",
        says="",
    ),
    Slip(
        clause="lease.one",
        name="gives to anybody",
        statement="acquire_lease",
        said="where lease.owner = excluded.owner or lease.lease_until <= clock_timestamp()",
        says="",
    ),
]


@dataclass(frozen=True, slots=True)
class Slipped(Schema):
    """A schema whose statements have a slip in them."""

    slip: Slip

    def sql(self, name: str) -> bytes:
        if name != self.slip.statement:
            return Schema(self.name).sql(name)
        text = statement("klokka.stores.postgres", name)
        return self.written(text.replace(self.slip.said, self.slip.says)).encode()


class SlippedStore(PostgresStore):
    """The right store with a slip."""

    def __init__(self, where: str, slip: Slip, **options: Any) -> None:
        self._slip = slip
        super().__init__(where, **options)

    def _keep(self, setting: Setting) -> None:
        if not isinstance(setting.schema, Slipped):
            setting = replace(setting, schema=Slipped(setting.schema.name, self._slip))
        super()._keep(setting)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip.clause}-{slip.name}")
async def test_a_slip_is_caught_by_a_check_of_the_clause_that_it_breaks(slip: Slip) -> None:

    @asynccontextmanager
    async def factory() -> AsyncGenerator[Subject]:
        with fresh_database() as where:

            @asynccontextmanager
            async def transaction() -> AsyncGenerator[AsyncConnection[Any]]:
                async with await AsyncConnection.connect(where) as caller:
                    yield caller

            yield Subject(
                store=SlippedStore(where, slip, bound=BOUND, connections=4),
                transaction=transaction,
                lock=partial(psycopg_lock, where),
            )

    for check in checks_of(slip.clause):
        result = await run_check(check, factory)
        if isinstance(result, Failed) and slip.clause in result.clauses:
            return
    pytest.fail(f"none of {[check.id for check in checks_of(slip.clause)]} sees it")


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip.clause}-{slip.name}")
def test_a_slip_still_changes_its_statement(slip: Slip) -> None:
    assert slip.said in statement("klokka.stores.postgres", slip.statement)
