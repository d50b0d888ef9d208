"""Lists of jobs for people: statements that need not read the whole table."""

from typing import Final

from klokka.core.ids import MAX_ID
from klokka.core.records import JobQuery
from klokka.core.states import TERMINAL, WAITING, JobStatus
from klokka.stores.postgres.composing import replaced
from klokka.stores.postgres.schema import Schema

_FILTERS: Final = {
    "status": "status = {}::text",
    "kind": "kind = {}::text",
    "queue": "queue = {}::text",
    # Keys of live and of ended jobs stand in two indexes, so that finding a live holder never reads what has ended.
    "unique_key": "unique_key = {}::text and (terminal_at is null or terminal_at is not null)",
    "schedule_id": "schedule_id = {}::text",
}
_SET_IN: Final = {"terminal_at": TERMINAL, "due_at": WAITING, "lease_until": frozenset({JobStatus.RUNNING})}
"""The column that is set in these states alone. Partial indexes go by it."""
_TROUBLE: Final = frozenset({JobStatus.FAILED, JobStatus.DEAD_LETTERED, JobStatus.CANCELLED})
_MOST: Final = 10**18
"""More than a table can have."""


class Listing:
    """The statements for one query. All take the same `parameters`."""

    def __init__(self, query: JobQuery, schema: Schema) -> None:
        self._query = query
        self._schema = schema
        before = MAX_ID if query.before is None else max(0, min(query.before, MAX_ID))
        self.parameters = [str(min(query.limit, _MOST)), str(min(query.offset, _MOST)), str(before)]
        terms: list[str] = []
        for name, term in _FILTERS.items():
            value: str | None = getattr(query, name)
            if value is not None:
                self.parameters.append(value)
                terms.append(term.format(f"${len(self.parameters)}"))
        terms += [f"{column} is not null" for column, states in _SET_IN.items() if query.status in states]
        self._terms = " and ".join(terms) or "true"

    @property
    def any(self) -> bool:
        """Whether it is every job that is asked for."""
        return self._terms == "true"

    @property
    def indexed(self) -> bool:
        """Whether a filter has an index of its own, in the order of lists."""
        query = self._query
        return query.unique_key is not None or query.schedule_id is not None or query.status in _TROUBLE

    @property
    def in_lines(self) -> bool:
        """Whether `by_lines` reads little: the index of what waits knows queues and kinds, and no states."""
        query = self._query
        named = query.kind is not None or query.queue is not None
        return named or query.status in (JobStatus.SUCCEEDED, JobStatus.RUNNING)

    def whole(self) -> bytes:
        """What is asked for, looked for in the table."""
        return self._listed(self._terms)

    def newest(self) -> bytes:
        """What is asked for among the newest jobs: all that `whole` has if the page is full."""
        return self._listed(f"id = any(array({replaced(self._sql('newest_ids'), 'true', self._terms)}))")

    def by_lines(self) -> bytes:
        """What `whole` has, looked for in the indexes by queue and kind."""
        ids = self._sql("line_ids")
        for column, states in _SET_IN.items():
            terms = self._terms if self._query.status in (None, *states) else "false"
            ids = replaced(ids, f"{column} is not null and true", f"{column} is not null and {terms}")
        return self._listed(f"id = any(array({ids}))")

    def _listed(self, terms: str) -> bytes:
        return replaced(self._sql("list_jobs"), "true", terms).encode()

    def _sql(self, name: str) -> str:
        return self._schema.sql(name).decode()
