"""The shop's own tables, in the database that its jobs live in too."""

import os
from collections.abc import Iterator

from sqlalchemy import create_engine, make_url
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

URL = os.environ["DATABASE_URL"]  # postgresql://…
engine = create_engine(make_url(URL).set(drivername="postgresql+psycopg"))


class Table(DeclarativeBase):
    pass


class Order(Table):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]
    receipt_sent: Mapped[bool] = mapped_column(default=False)


def open_session() -> Iterator[Session]:
    """A dependency of FastAPI's: a session for one request."""
    with Session(engine) as session:
        yield session
