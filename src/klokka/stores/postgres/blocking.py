"""Who keeps Klokka's writes out of its tables, and who stands before whom."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from klokka.spi.diagnosis import Finding
from klokka.stores.postgres.link import Row

_PREPARED: Final = 0
"""What the server gives for the process of a prepared transaction, which has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """A session in a queue for a lock. `table` and `mode` are None where its lock would let Klokka through."""

    pid: int
    table: str | None
    mode: str | None
    told: str
    behind: Sequence[int]


def of_locks(rows: Iterable[Row]) -> Iterator[Finding]:
    """One finding for each session that waits for nobody and holds up Klokka, itself or through those behind it."""
    sessions = {
        pid: Blocker(pid=pid, table=table, mode=mode, told=told, behind=behind)
        for pid, table, mode, told, behind in rows
    }
    nearest: dict[int, list[Blocker]] = {}
    for session in sessions.values():
        if session.mode is not None:
            for path in _paths(session, sessions):
                known = nearest.setdefault(path[0].pid, path)
                if len(path) < len(known):
                    nearest[path[0].pid] = path
    for path in nearest.values():
        yield _finding(path)


def _paths(obstacle: Blocker, sessions: Mapping[int, Blocker]) -> Iterator[list[Blocker]]:
    """The shortest way to `obstacle` from each session that waits for nobody, that one first."""
    seen, ways = {obstacle.pid}, [[obstacle]]
    while ways:
        way = ways.pop(0)
        before = [sessions[pid] for pid in way[0].behind if pid in sessions]
        if not before:
            yield way
        ways += [[one, *way] for one in before if one.pid not in seen]
        seen.update(one.pid for one in before)


def _finding(path: Sequence[Blocker]) -> Finding:
    first, *others = path
    chain = f"session {first.pid} ({first.told}) blocks " if first.pid else "a prepared transaction blocks "
    chain += "".join(f"{other.pid} ({other.told}), which blocks " for other in others)
    if first.pid == _PREPARED:
        advice = "Commit or roll it back: select gid from pg_prepared_xacts;"
    else:
        advice = f"Let its owner end it, or end it: select pg_terminate_backend({first.pid});"
    return Finding(problem=f"{chain}Klokka: {path[-1].mode} on the table {path[-1].table}.", advice=advice)
