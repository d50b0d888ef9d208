"""A job goes in with the transaction of a session or connection of SQLAlchemy, however the engine was made."""

from collections.abc import Generator
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.exc import PendingRollbackError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker

from klokka.errors import StoreUnavailable, WrongTransaction
from klokka.stores.postgres.store import PostgresStore
from tests.stores.postgres.test_transactions_isolation import KEYED, WORK, count
from tests.support.postgres import end_connections
from tests.support.transactions import engine as engine_on


class Table(DeclarativeBase):
    pass


class Order(Table):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)


@pytest.fixture
def engine(where: str) -> Generator[sqlalchemy.Engine]:
    with engine_on(where) as engine:
        Table.metadata.create_all(engine)
        yield engine


@pytest.fixture
def session(engine: sqlalchemy.Engine) -> Generator[Session]:
    with Session(engine) as session:
        yield session


async def test_the_order_and_the_job_are_there_together_or_not_at_all(store: PostgresStore, session: Session) -> None:
    session.add(Order(id=1))
    store.enqueue_in_sync(session, [WORK])
    session.rollback()
    assert await count(store) == 0

    session.add(Order(id=2))
    store.enqueue_in_sync(session, [WORK])
    session.commit()
    assert await count(store) == 1
    assert [order.id for order in session.scalars(sqlalchemy.select(Order))] == [2]


async def test_a_savepoint_of_the_session_takes_the_job_with_it(store: PostgresStore, session: Session) -> None:
    session.add(Order(id=1))
    inner = session.begin_nested()
    store.enqueue_in_sync(session, [WORK, WORK])
    inner.rollback()
    store.enqueue_in_sync(session, [WORK])
    session.commit()

    assert await count(store) == 1


@pytest.mark.parametrize("options", [{"stream_results": True}, {"yield_per": 10}, {"no_parameters": True}])
@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
async def test_options_of_the_engine_do_not_matter(
    store: PostgresStore, engine: sqlalchemy.Engine, level: Any, options: dict[str, Any]
) -> None:
    with engine.execution_options(isolation_level=level, **options).begin() as connection:
        store.enqueue_in_sync(connection, [WORK, KEYED])

    assert await count(store) == 2


@pytest.mark.parametrize("schema", ["a:b %s", "$1::text", 'o\'clock :q "q"', "été \\: {schema}"])
async def test_a_schema_of_any_name_is_found(where: str, session: Session, schema: str) -> None:
    store = PostgresStore(where, schema=schema)
    await store.migrate()

    assert store.enqueue_in_sync(session, [WORK, KEYED])[1].created


def test_autocommit_is_refused(store: PostgresStore, engine: sqlalchemy.Engine) -> None:
    alone = engine.execution_options(isolation_level="AUTOCOMMIT")
    with Session(alone) as session, pytest.raises(WrongTransaction, match="isolation level is not AUTOCOMMIT"):
        store.enqueue_in_sync(session, [WORK])
    with alone.begin() as connection, pytest.raises(WrongTransaction, match="isolation level is not AUTOCOMMIT"):
        store.enqueue_in_sync(connection, [WORK])


def test_a_session_whose_flush_has_failed_is_refused(store: PostgresStore, session: Session) -> None:
    session.add_all([Order(id=1), Order(id=1)])
    with pytest.raises(sqlalchemy.exc.IntegrityError):
        session.flush()

    with pytest.raises(WrongTransaction, match="rolled back") as caught:
        store.enqueue_in_sync(session, [WORK])

    assert isinstance(caught.value.__cause__, PendingRollbackError)
    session.rollback()
    assert store.enqueue_in_sync(session, [WORK])[0].created


def test_a_failed_transaction_is_refused(store: PostgresStore, engine: sqlalchemy.Engine) -> None:
    with engine.connect() as connection:
        with pytest.raises(sqlalchemy.exc.ProgrammingError):
            connection.exec_driver_sql("no statement")

        with pytest.raises(WrongTransaction, match="has failed"):
            store.enqueue_in_sync(connection, [WORK])


def test_a_closed_connection_is_refused(store: PostgresStore, engine: sqlalchemy.Engine) -> None:
    connection = engine.connect()
    connection.close()

    with pytest.raises(WrongTransaction, match="closed"):
        store.enqueue_in_sync(connection, [WORK])


def test_a_session_to_another_sort_of_database_is_refused(store: PostgresStore) -> None:
    engine = sqlalchemy.create_engine("sqlite://")
    with Session(engine) as session, pytest.raises(WrongTransaction, match="connected to sqlite"):
        store.enqueue_in_sync(session, [WORK])
    engine.dispose()


def test_a_session_that_cannot_tell_its_database_is_refused(store: PostgresStore) -> None:
    with Session() as session, pytest.raises(WrongTransaction, match="not bound to a single Engine"):
        store.enqueue_in_sync(session, [WORK])


async def test_of_a_session_with_many_databases_the_connection_is_given(
    store: PostgresStore, engine: sqlalchemy.Engine
) -> None:
    with Session(binds={Order: engine}) as session, session.begin():
        store.enqueue_in_sync(session.connection(bind_arguments={"mapper": Order}), [WORK])

    assert await count(store) == 1


def test_what_makes_connections_is_refused(store: PostgresStore, engine: sqlalchemy.Engine) -> None:
    for tx in (engine, sessionmaker(engine), engine.pool):
        with pytest.raises(WrongTransaction, match="nothing that makes them"):
            store.enqueue_in_sync(tx, [WORK])


def test_a_connection_that_breaks_says_so(store: PostgresStore, session: Session, where: str) -> None:
    store.enqueue_in_sync(session, [WORK])
    end_connections(where)

    with pytest.raises(StoreUnavailable):
        store.enqueue_in_sync(session, [WORK])

    session.invalidate()
