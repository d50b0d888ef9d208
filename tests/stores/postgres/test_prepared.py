"""Statements are planned once for each connection, and never where a pooler gives the session to others."""

from klokka.core.records import NewJob
from klokka.stores.postgres.database import Transaction
from klokka.stores.postgres.inserts import rendered
from klokka.stores.postgres.link import connect
from klokka.stores.postgres.patience import Patience
from klokka.stores.postgres.store import PostgresStore

HOW_OFTEN = b"select statement like '%jobs%', generic_plans, custom_plans from pg_prepared_statements"


async def test_a_statement_is_prepared_when_it_first_runs_and_keeps_its_plan(where: str) -> None:
    setting = PostgresStore(where)._setting
    link = await connect(setting)
    insert = rendered([NewJob(kind="a", payload="{}")])
    for _ in range(3):
        await Transaction(link, setting, Patience(setting.bound)).run(insert.name, insert.jobs)

    rows = await (await link.connection.execute(HOW_OFTEN)).fetchall()
    await link.close()

    assert rows == [(True, 3, 0)]


async def test_through_a_pooler_nothing_is_prepared(where: str) -> None:
    setting = PostgresStore(where)._setting
    link = await connect(setting)
    link.direct = False
    for _ in range(3):
        await Transaction(link, setting, Patience(setting.bound)).run("now")

    rows = await (await link.connection.execute(HOW_OFTEN)).fetchall()
    await link.close()

    assert rows == []
