"""What a worker serves: queues in drain order, with caps inside its total."""

from collections.abc import Iterable
from dataclasses import dataclass

from klokka.core.arguments import count, of_class
from klokka.core.names import check_queue
from klokka.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue by name; `concurrency` caps how many of its jobs one worker runs at once, None up to the total.

    Raises:
        InvalidInput: or one of its kinds: a bad name, or a cap below 1.
    """

    name: str
    concurrency: int | None = None

    def __post_init__(self) -> None:
        check_queue(self.name)
        if self.concurrency is not None:
            count(f"concurrency of queue {self.name!r}", self.concurrency)


def in_drain_order(queues: Iterable[Queue | str]) -> tuple[Queue, ...]:
    """The queues as values, in the order given, which is their priority.

    Raises:
        InvalidInput: none is given, one is named twice, or it is no sequence of queues: a text is one of letters.
    """
    hint = "Give a list of names or of klokka.Queue."
    if isinstance(queues, str):
        raise InvalidInput(f"queues cannot be the text {queues!r}. {hint}")
    of_class("queues", queues, Iterable, hint)
    given = tuple(Queue(queue) if isinstance(queue, str) else queue for queue in queues)
    for queue in given:
        of_class("a queue", queue, Queue, hint)
    names = [queue.name for queue in given]
    if not names:
        raise InvalidInput("a worker needs a queue. Name at least one, such as Queue('default').")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InvalidInput(f"queue {min(twice)!r} is named twice. Name each queue once, in drain order.")
    return given
