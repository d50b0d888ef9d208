"""What a store accepts, stated as a value and checked in one place before any write [enqueue.limits]."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from klokka.core.instants import check_plan
from klokka.core.names import check_bytes, check_key, check_kind, check_queue, check_text, utf8_length
from klokka.core.records import NewJob
from klokka.errors import InvalidInput, LimitExceeded


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes of UTF-8. Kinds and queues are 1 to 128 characters everywhere; see `names.check_name`."""

    payload: int = 1024 * 1024
    key: int = 512
    headers: int = 16 * 1024
    name: int = 512

    def admit(self, jobs: Iterable[NewJob]) -> None:
        """Returns if every job may be written, so that a refused one leaves no trace of its neighbours.

        Raises:
            InvalidInput: or one of its kinds, naming the field, the limit and the size.
        """
        for job in jobs:
            check_kind(job.kind)
            check_queue(job.queue)
            check_bytes("payload", job.payload, self.payload)
            if job.unique_key is not None:
                check_key("unique_key", job.unique_key, self.key)
            if job.schedule_id is not None:
                check_key("schedule_id", job.schedule_id, self.name)
            if job.run_at is not None:
                check_plan("run_at", job.run_at)
            if job.headers:
                self._admit_headers(job.headers)
            if job.payload_version < 0 or job.payload_version > 2**31 - 1:
                raise InvalidInput(f"payload_version {job.payload_version} is not in 0 to {2**31 - 1}.")

    def _admit_headers(self, headers: Mapping[str, str]) -> None:
        size = 0
        for name, value in headers.items():
            size += utf8_length("header name", check_text("header name", name))
            size += utf8_length(f"header {name!r}", check_text(f"header {name!r}", value))
        if size > self.headers:
            raise LimitExceeded(f"headers have {size:,} bytes; the limit is {self.headers:,}.")
