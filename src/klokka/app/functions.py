"""A decorated function: its own payload, its own handler, and still callable as itself."""

import functools
import inspect
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from klokka.core.arguments import can_be_called
from klokka.core.names import check_kind, check_queue
from klokka.core.outcomes import Outcome
from klokka.core.parameters import Parameters
from klokka.core.records import EnqueueResult, NewJob
from klokka.errors import InvalidInput
from klokka.runtime.context import JobContext

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Enqueuer(Protocol):
    """What a decorated function needs of its app."""

    async def enqueue(self, request: NewJob) -> EnqueueResult: ...

    def enqueue_sync(self, request: NewJob) -> EnqueueResult: ...


class JobFunction(Generic[P, R]):
    """A function that is a kind of job. Called, it is the plain function; `new` and `enqueue` take its parameters.

    The kind is always written out and never the function's name, so that code may be moved and renamed.
    """

    def __init__(self, function: Callable[P, R], kind: str, queue: str, app: Enqueuer) -> None:
        self.kind = check_kind(kind)
        can_be_called(f"the function of {kind!r}", function, "Decorate a function.")
        functools.update_wrapper(self, function)
        self.queue = check_queue(queue)
        self.function = function
        self._parameters = Parameters(function)
        self._app = app

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A request to run this with these arguments, encoded now; `.options(…)` gives changed copies.

        Raises:
            PayloadNotEncodable: the arguments do not fit, or would not come back as they go in.
        """
        return self._request(self._parameters.encode(args, kwargs))

    def request(self, text: str) -> NewJob:
        """The same of arguments that are JSON text already, for tools.

        Raises:
            PayloadUndecodable: the text does not fit the function's parameters.
            PayloadNotEncodable: it has a field that is none of them, or one given twice.
        """
        self._parameters.check(text)
        return self._request(text)

    async def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> EnqueueResult:
        """Stores a job with these arguments; see `Klokka.enqueue`."""
        return await self._app.enqueue(self.new(*args, **kwargs))

    def enqueue_sync(self, *args: P.args, **kwargs: P.kwargs) -> EnqueueResult:
        """The same from sync code; see `Klokka.enqueue_sync`."""
        return self._app.enqueue_sync(self.new(*args, **kwargs))

    def decode(self, payload: str) -> dict[str, Any]:
        """For the runtime: the keyword arguments in a payload.

        Raises:
            PayloadUndecodable: the text does not fit the function's parameters.
        """
        return self._parameters.decode(payload)

    def run(self, arguments: dict[str, Any], job: JobContext) -> Awaitable[Outcome] | Outcome:  # noqa: ARG002
        """For the runtime: calls the function. It takes its payload alone; `current_job()` gives the context."""
        call: Callable[..., Any] = self.function
        result: Awaitable[Outcome] | Outcome = call(**arguments)
        return result

    def _request(self, text: str) -> NewJob:
        return NewJob(kind=self.kind, payload=text, queue=self.queue)

    def __reduce__(self) -> tuple[Callable[[str, str], Any], tuple[str, str]]:
        """Travels to another process by name; a function that cannot be imported is refused there."""
        return _by_name, (self.function.__module__, self.function.__qualname__)

    def __repr__(self) -> str:
        return f"<job {self.kind!r}: {self.function.__module__}.{self.function.__qualname__}>"


def _by_name(module: str, qualname: str) -> Any:
    __import__(module)
    return functools.reduce(getattr, qualname.split("."), sys.modules[module])


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await: an async function, method, or object with an async `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def takes_job(handler: Callable[..., Any]) -> bool:
    """Whether a handler takes `(payload, job)` rather than `(payload)`.

    Raises:
        InvalidInput: it takes neither.
    """
    parameters = list(inspect.signature(handler).parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [
        p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL and p.kind is not p.VAR_KEYWORD
    ]
    if not positional or len(required) > 2 or any(p.kind is p.KEYWORD_ONLY for p in required):
        raise InvalidInput(
            f"handler {handler!r} takes {inspect.signature(handler)}. A handler takes (payload) or (payload, job)."
        )
    return len(required) == 2
