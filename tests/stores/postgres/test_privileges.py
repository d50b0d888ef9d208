"""The rights that docs/postgres.md grants are enough for each duty, and no more than it needs."""

import re
from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

import psycopg
import pytest

from klokka.cli.diagnosis import diagnose
from klokka.core.ids import ScheduleId, WorkerId
from klokka.core.records import NewJob, RetentionPolicy
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import Running, Succeeded
from klokka.core.worker_records import WorkerBeat
from klokka.errors import StoreReadOnly
from klokka.stores.postgres.store import PostgresStore
from tests.support.pages import ROOT, blocks_of
from tests.support.postgres import connection, fresh_database, fresh_role

JOB = NewJob(kind="k", payload="{}")
MINUTE = timedelta(minutes=1)
ME = WorkerId("w")
DUTIES = ("migrator", "producer", "worker", "operator")
PAGE = [block.text for block in blocks_of(ROOT / "docs" / "postgres.md") if block.language == "sql"]
GRANTED = re.compile(r"grant (?P<rights>[a-z, ]+) on (?P<tables>klokka\.[\w., ]+) to")


@dataclass(frozen=True, slots=True)
class Roles:
    """Where each duty connects, and the administrator."""

    migrator: str
    producer: str
    worker: str
    operator: str
    administrator: str


@pytest.fixture
def roles() -> Generator[Roles]:
    """Roles made as the page says, on a database in which nothing else was granted."""
    with ExitStack() as stack:
        bare = stack.enter_context(fresh_database(migrated=False))
        named = {duty: stack.enter_context(fresh_role(bare)) for duty in DUTIES}
        create, *grants = (_as_named(text, {duty: role for duty, (role, _) in named.items()}) for text in PAGE)
        with connection(bare) as administrator:
            administrator.execute(create.encode())
            with psycopg.connect(named["migrator"][1], autocommit=True) as dba:
                dba.execute(PostgresStore(bare).migration_sql().encode())
            for grant in grants:
                administrator.execute(grant.encode())
        yield Roles(**{duty: where for duty, (_, where) in named.items()}, administrator=bare)


def _as_named(text: str, roles: dict[str, str]) -> str:
    for duty, role in roles.items():
        text = text.replace(f"shop_{duty}", role)
    return text


async def enqueues(store: PostgresStore) -> None:
    await store.enqueue([JOB])
    await store.enqueue([NewJob(kind="k", payload="{}", unique_key="u")] * 2)
    assert await store.enqueue_once(JOB, scope="s", key="k", ttl=MINUTE) is not None
    token = await store.claim_key("s", "other", MINUTE)
    assert token is not None
    assert await store.release_key("s", "other", token)
    with psycopg.connect(store._setting.conninfo) as theirs:
        store.enqueue_in_sync(theirs, [JOB])


async def works(store: PostgresStore) -> None:
    await enqueues(store)
    await store.beat(WorkerBeat(id=ME, host="h", pid=1, version="1", queues=(), kinds=()), live_for=MINUTE)
    (job, *_) = await store.claim(queues=["default"], kinds=["k"], limit=9, lease=MINUTE, worker=ME)
    await store.next_due(queues=["default"], kinds=["k"])
    await store.heartbeat({job.id: job.fence}, worker=ME, extend=MINUTE)
    await store.report_progress(job.id, fence=job.fence, value=0.5)
    assert await store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)
    at = await store.now()
    spec = ScheduleSpec(id=ScheduleId("s"), kind="k", fingerprint="f", description="", fire_at=at)
    await store.upsert_schedules([spec])
    (fire,) = await store.due_schedules(ids=[spec.id], limit=1, lease=MINUTE, worker=ME)
    await store.complete_fire(spec.id, fence=fire.fence, runs=[JOB], next_fire_at=None)
    fence = await store.acquire_lease("l", "me", MINUTE)
    assert fence is not None
    assert await store.advance_cursor("c", at, lease="l", fence=fence)
    await store.release_lease("l", "me")
    await store.sweep(RetentionPolicy(succeeded_for=timedelta(0)))
    await store.retire(ME)


async def operates(store: PostgresStore) -> None:
    await works(store)
    (result,) = await store.enqueue([JOB])
    await store.pause_queue("default", "r")
    await store.resume_queue("default")
    await store.cancel(result.id)
    await store.requeue(result.id)
    await store.delete(result.id)
    await store.pause_schedule(ScheduleId("s"), "r")
    await store.resume_schedule(ScheduleId("s"), None)
    for look in (store.counts_by_status, store.list_schedules, store.queue_depths, store.workers, store.paused_queues):
        await look()


@pytest.mark.parametrize(
    ("duty", "does", "told"),
    [
        ("producer", enqueues, "enqueue"),
        ("worker", works, "enqueue, work"),
        ("operator", operates, "enqueue, work, operate"),
        ("migrator", operates, "enqueue, work, operate, migrate"),
    ],
)
async def test_the_rights_of_a_duty_are_enough_for_it(
    roles: Roles, duty: str, does: Callable[[PostgresStore], Awaitable[None]], told: str
) -> None:
    store = PostgresStore(getattr(roles, duty))
    await store.open()

    await does(store)

    assert (await store.diagnose()).facts["role"].endswith(f", which may {told}")
    await store.close()


async def test_a_producer_cannot_take_work_nor_a_worker_stop_a_queue(roles: Roles) -> None:
    producer, worker = PostgresStore(roles.producer), PostgresStore(roles.worker)
    await producer.open()
    await worker.open()

    with pytest.raises(StoreReadOnly, match="lacks a right"):
        await producer.claim(queues=["default"], kinds=["k"], limit=1, lease=MINUTE, worker=ME)
    with pytest.raises(StoreReadOnly, match="lacks a right"):
        await worker.pause_queue("default", "r")

    await producer.close()
    await worker.close()


@pytest.mark.parametrize(
    ("duty", "does", "page"), [("producer", enqueues, PAGE[1]), ("worker", works, PAGE[2])], ids=["producer", "worker"]
)
async def test_each_right_that_the_page_grants_is_needed(
    roles: Roles, duty: str, does: Callable[[PostgresStore], Awaitable[None]], page: str
) -> None:
    role = psycopg.conninfo.conninfo_to_dict(getattr(roles, duty))["user"]
    needless = []
    for match in GRANTED.finditer(page):
        for right in match["rights"].split(", "):
            for table in match["tables"].split(", "):
                with connection(roles.administrator) as administrator:
                    administrator.execute(f"revoke {right} on {table} from {role}".encode())
                    store = PostgresStore(getattr(roles, duty), bound=timedelta(seconds=0.2))
                    try:
                        await store.open()
                        await does(store)
                        needless.append((right, table))
                    except StoreReadOnly:
                        pass
                    finally:
                        await store.close()
                        administrator.execute("truncate klokka.jobs, klokka.idempotency_keys, klokka.leases")
                        administrator.execute("truncate klokka.schedules, klokka.workers, klokka.cursors")
                        administrator.execute(f"grant {right} on {table} to {role}".encode())

    assert needless == []


async def test_the_doctor_is_content_with_a_worker_and_says_what_it_could_not_measure(roles: Roles) -> None:
    store = PostgresStore(roles.worker)

    found = await diagnose(store, "here")
    await store.close()

    assert found.facts is not None
    assert found.facts["wakeups"] == "not measured: it needs the operator's right"
    assert [finding for finding in found.findings if "the machine dies" not in finding.problem] == []
