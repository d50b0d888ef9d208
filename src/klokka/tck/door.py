"""What the kit looks at before it begins: whether the factory gives a store that can be tried at all."""

import asyncio
import inspect
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final

from klokka.core.ids import WorkerId
from klokka.core.records import NewJob
from klokka.errors import StoreUnavailable
from klokka.spi.life import Traits
from klokka.spi.store import JobStore
from klokka.tck.endings import is_callers, said
from klokka.tck.interceptor import CORE_VERBS
from klokka.tck.journal import Journal
from klokka.tck.report import Store
from klokka.tck.subject import Factory, Subject

_KIND: Final = "tck.door"
_BOUND: Final = timedelta(seconds=30)


class Unfit(Exception):
    """The factory gives nothing that can be tried; the message says why and what next."""


class Unreachable(Unfit):
    """The factory is right, and its store cannot be reached."""


async def examine(factory: Factory, *, bound: timedelta = _BOUND) -> Store:
    """What the store says of itself, after two short looks at what the factory gives.

    Raises:
        Unreachable: the store cannot be reached.
        Unfit: the factory fails, hangs, gives no store, one without a verb of the core, or the same data twice.
    """
    limit = bound.total_seconds()
    seen = Store()
    for turn in (1, 2):
        async with _given(factory, limit) as subject:
            journal = Journal()
            try:
                async with asyncio.timeout(limit):
                    seen = await _look(subject.store, journal.watch(subject.store), is_first=turn == 1)
            except StoreUnavailable as error:
                raise Unreachable(f"the store cannot be reached: {error}") from error
            except TimeoutError as error:
                raise Unfit(f"the store does not take one job: no end within {limit:g} s\n{_last(journal)}") from error
            except Unfit:
                raise
            except BaseException as error:
                if is_callers(error):
                    raise
                raise Unfit(f"the store does not take one job: {said(error)}\n{_last(journal)}") from error
    return seen


@asynccontextmanager
async def _given(factory: Factory, limit: float) -> AsyncGenerator[Subject]:
    try:
        giving: Any = factory()
    except Exception as error:
        raise Unfit(f"the factory raised when it was called: {said(error)}") from error
    if not (hasattr(giving, "__aenter__") and hasattr(giving, "__aexit__")):
        _forget(giving)
        raise Unfit(
            f"the factory gave {type(giving).__name__}. Write it as an async generator function under "
            f"@contextlib.asynccontextmanager that yields a klokka.tck.subject.Subject."
        )
    try:
        async with asyncio.timeout(limit):
            subject = await giving.__aenter__()
    except TimeoutError as error:
        raise Unfit(f"the factory gave no subject within {limit:g} s.") from error
    except StoreUnavailable as error:
        raise Unreachable(f"the store cannot be reached: {error}") from error
    except BaseException as error:
        if is_callers(error):
            raise
        raise Unfit(f"the factory raised before it gave a subject: {said(error)}") from error
    try:
        yield _checked(subject)
    finally:
        try:
            async with asyncio.timeout(limit):
                await giving.__aexit__(None, None, None)
        except TimeoutError as error:
            raise Unfit(f"the factory did not end within {limit:g} s.") from error
        except Unfit:
            raise
        except BaseException as error:
            if is_callers(error):
                raise
            raise Unfit(f"the factory raised when it ended: {said(error)}") from error


def _checked(subject: Any) -> Subject:
    if not isinstance(subject, Subject):
        raise Unfit(f"the factory yielded {type(subject).__name__}. Yield Subject(store=…) of klokka.tck.subject.")
    kind = type(subject.store)
    if isinstance(subject.store, type):
        raise Unfit(f"the subject's store is the class {subject.store.__name__}. Give a store, made but not opened.")
    missing = sorted(verb for verb in CORE_VERBS if not hasattr(kind, verb) and not hasattr(subject.store, verb))
    if missing:
        raise Unfit(
            f"{type(subject.store).__name__} is no store: it has no {', '.join(missing)}. "
            f"The verbs stand in klokka.spi.store.JobStore."
        )
    try:
        traits: object = subject.store.traits
    except Exception as error:
        raise Unfit(f"the traits of {kind.__name__} must be known before it is opened: {said(error)}") from error
    if not isinstance(traits, Traits):
        raise Unfit(f"the traits of {kind.__name__} are {type(traits).__name__}. Give a klokka.spi.life.Traits.")
    return subject


async def _look(tried: JobStore, store: JobStore, *, is_first: bool) -> Store:
    """Opens, looks for what a look before has left, leaves a job, and closes. `store` is `tried`, watched."""
    await store.open()
    try:
        found = await store.claim(
            queues=["default"], kinds=[_KIND], limit=1, lease=timedelta(days=1), worker=WorkerId("tck-door")
        )
        if found and not is_first:
            raise Unfit("the factory gave the same data twice. Each entry must give fresh, empty data.")
        if found:
            raise Unfit("the factory gave data with jobs in it. Each entry must give fresh, empty data.")
        await store.enqueue([NewJob(kind=_KIND, payload="{}")])
        return Store.seen(tried)
    finally:
        await store.close()


def _forget(given: object) -> None:
    """Keeps the interpreter from complaining of a coroutine that nobody awaits."""
    if inspect.iscoroutine(given):
        given.close()


def _last(journal: Journal) -> str:
    """What was asked, line by line, so that the verb can be seen that is to blame."""
    return "\n".join(f"  {line}" for line in journal.last())
