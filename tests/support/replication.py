"""A primary and a synchronous standby of it, on one machine."""

import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg
from psycopg.conninfo import make_conninfo

from klokka.testing.postgres_server import PostgresServer


@dataclass(frozen=True, slots=True)
class Pair:
    """Two servers. What the primary has acknowledged, the standby has."""

    primary: PostgresServer
    standby: PostgresServer

    @property
    def where(self) -> str:
        """Where a client finds whichever of them takes writes."""
        hosts = f"{self.primary.folder},{self.standby.folder}"
        return make_conninfo("", user="postgres", dbname="postgres", host=hosts, target_session_attrs="read-write")

    def fail_over(self) -> None:
        """The primary is lost, and the standby takes its place."""
        self.primary.stop()
        self.standby.promote()


@contextmanager
def replicated() -> Generator[Pair]:
    """Both, in step with each other."""
    with ExitStack() as stack:
        primary = stack.enter_context(PostgresServer.start())
        standby = stack.enter_context(PostgresServer.start(standby_of=primary))
        with psycopg.connect(primary.url(), autocommit=True) as administrator:
            administrator.execute("alter system set synchronous_standby_names = '*'")
            administrator.execute("select pg_reload_conf()")
            until = time.monotonic() + 20
            while administrator.execute("select from pg_stat_replication where sync_state = 'sync'").rowcount == 0:
                assert time.monotonic() < until, "the standby does not follow"
                time.sleep(0.02)
        yield Pair(primary, standby)
