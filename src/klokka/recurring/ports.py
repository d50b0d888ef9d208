"""What the leased ticker needs of the world: a queue. Lease, cursors and keys are the contract's own capabilities."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar, runtime_checkable

from klokka.core.ids import JobId

J = TypeVar("J", contravariant=True)


class Kinded(Protocol):
    """Something of a kind of job: a request, a `JobType`, a decorated function."""

    @property
    def kind(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a tick asks of a queue. None leaves a matter to the queue; `scheduled_for` is the tick."""

    kind: str
    args: Any
    queue: str | None = None
    priority: int | None = None
    max_retries: int | None = None
    scheduled_for: datetime | None = None


class Queue(Protocol[J]):
    """A queue of any sort: another broker, a directory, a Klokka store behind `StoreQueue`."""

    def admit(self, job: J, /) -> None:
        """Returns if the queue will honour all that the job asks for; nothing is ever dropped in silence.

        Raises:
            InvalidInput: it cannot; says what and what instead.
        """
        ...

    async def enqueue(self, job: J, /) -> int | str:
        """Enqueues the job and gives its id.

        Raises:
            UnknownOutcome: it may have been enqueued. Any other error says that it was not.
        """
        ...


@runtime_checkable
class AtomicQueue(Protocol[J]):
    """A queue whose jobs may live in one store with the keys, and so be written in one transaction with them."""

    def keeps(self, idempotency: object) -> bool:
        """Whether keys of `idempotency` live where the jobs do."""
        ...

    async def enqueue_once(self, job: J, /, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        """Claims the key and stores the job, both or neither [key.atomic]; None for a duplicate."""
        ...
