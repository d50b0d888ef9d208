"""A queue of somebody else's, for tests."""

from typing import Any

from klokka.errors import InvalidInput
from klokka.recurring.ports import Request


class ForeignQueue:
    """Takes everything but priorities, and fails when told to."""

    def __init__(self) -> None:
        self.taken: list[Request] = []
        self.failures: list[BaseException] = []

    def admit(self, job: Any, /) -> None:
        if job.priority is not None:
            raise InvalidInput("this queue knows no priority. Leave it out.")

    async def enqueue(self, job: Any, /) -> str:
        if self.failures:
            raise self.failures.pop(0)
        self.taken.append(job)
        return f"message-{len(self.taken)}"
