"""The table of jobs with its two indexes: who holds a unique key, and who is next in line."""

from collections.abc import Collection

from klokka.core.ids import JobId
from klokka.core.states import JobStatus
from klokka.stores.memory.lines import Line
from klokka.stores.memory.rows import JobRow


class JobTable:
    """Every committed job. Whoever changes a row tells the table with `moved`."""

    def __init__(self) -> None:
        self.rows: dict[JobId, JobRow] = {}
        self.key_holders: dict[str, JobId] = {}
        self._lines: dict[str, dict[str, Line]] = {}

    def add(self, row: JobRow) -> None:
        self.rows[row.id] = row
        self.moved(row)

    def moved(self, row: JobRow) -> None:
        """Brings the indexes up to date with a row that was added or changed [enqueue.unique-life]."""
        key = row.new.unique_key
        if key is not None:
            if not row.terminal:
                self.key_holders[key] = row.id
            elif self.key_holders.get(key) == row.id:
                del self.key_holders[key]
        self.line(row).add(row)

    def remove(self, row: JobRow) -> None:
        del self.rows[row.id]
        key = row.new.unique_key
        if key is not None and self.key_holders.get(key) == row.id:
            del self.key_holders[key]

    def line(self, row: JobRow) -> Line:
        kinds = self._lines.setdefault(row.new.queue, {})
        return kinds.get(row.new.kind) or kinds.setdefault(row.new.kind, Line(self.rows))

    def lines(self, queue: str, kinds: Collection[str]) -> list[Line]:
        """The lines of these kinds in one queue [claim.kinds]."""
        return [line for kind, line in self._lines.get(queue, {}).items() if kind in kinds]

    def running(self, id: JobId) -> JobRow | None:
        """The job if it runs, under a lease that has ended or not."""
        row = self.rows.get(id)
        return row if row is not None and row.status is JobStatus.RUNNING else None
