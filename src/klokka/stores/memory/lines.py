"""In which order jobs are claimed: by time, then by id, for each kind of each queue apart [claim.order]."""

import heapq
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from klokka.core.ids import JobId
from klokka.stores.memory.rows import JobRow

Entry = tuple[datetime, JobId]


class Agenda:
    """Jobs by one of their times, earliest first.

    A job is added whenever that time changes. What was noted before is not looked for; it is passed over when it
    comes to the front, because the job no longer has the time noted there.
    """

    def __init__(self, jobs: Mapping[JobId, JobRow], time_of: Callable[[JobRow], datetime | None]) -> None:
        self._jobs = jobs
        self._time_of = time_of
        self._entries: list[Entry] = []

    def add(self, row: JobRow) -> None:
        """Notes the job under its present time, if it has one."""
        time = self._time_of(row)
        if time is not None:
            heapq.heappush(self._entries, (time, row.id))

    def head(self) -> Entry | None:
        """The earliest."""
        while self._entries:
            time, job = self._entries[0]
            row = self._jobs.get(job)
            if row is not None and self._time_of(row) == time:
                return self._entries[0]
            heapq.heappop(self._entries)
        return None

    def until(self, now: datetime) -> Iterator[Entry]:
        """Those whose time has come, in order. Whoever goes on to the next one has claimed the one before."""
        while (head := self.head()) is not None and head[0] <= now:
            yield head


class Line:
    """The jobs of one kind in one queue."""

    def __init__(self, jobs: Mapping[JobId, JobRow]) -> None:
        self.waiting = Agenda(jobs, JobRow.due)
        self.leased = Agenda(jobs, JobRow.lease_end)

    def add(self, row: JobRow) -> None:
        """Notes a job whose time or lease has changed."""
        self.waiting.add(row)
        self.leased.add(row)

    def next_due(self) -> datetime | None:
        """When something of it may be claimed [claim.next-due]."""
        heads = (self.waiting.head(), self.leased.head())
        return min((head[0] for head in heads if head is not None), default=None)
