"""What the kit looks at before it begins: whether the factory gives a store that can be tried at all."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final

from klokka.core.ids import WorkerId
from klokka.core.records import NewJob
from klokka.errors import StoreUnavailable
from klokka.spi.store import JobStore
from klokka.tck.interceptor import CORE_VERBS
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
            try:
                async with asyncio.timeout(limit):
                    seen = await _look(subject.store, is_first=turn == 1)
            except StoreUnavailable as error:
                raise Unreachable(f"the store cannot be reached: {error}") from error
            except TimeoutError as error:
                raise Unfit(f"the store did not open, take one job and claim it within {limit:g} s.") from error
            except Unfit:
                raise
            except Exception as error:
                raise Unfit(f"the store cannot take one job: {type(error).__name__}: {error}") from error
    return seen


@asynccontextmanager
async def _given(factory: Factory, limit: float) -> AsyncGenerator[Subject]:
    try:
        giving = factory()
    except Exception as error:
        raise Unfit(f"the factory raised when it was called: {type(error).__name__}: {error}") from error
    if not (hasattr(giving, "__aenter__") and hasattr(giving, "__aexit__")):
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
    except Exception as error:
        raise Unfit(f"the factory raised before it gave a subject: {type(error).__name__}: {error}") from error
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
        except Exception as error:
            raise Unfit(f"the factory raised when it ended: {type(error).__name__}: {error}") from error


def _checked(subject: Any) -> Subject:
    if not isinstance(subject, Subject):
        raise Unfit(f"the factory yielded {type(subject).__name__}. Yield Subject(store=…) of klokka.tck.subject.")
    missing = sorted(verb for verb in CORE_VERBS if not hasattr(subject.store, verb))
    if missing:
        raise Unfit(
            f"{type(subject.store).__name__} is no store: it has no {', '.join(missing)}. "
            f"The verbs stand in klokka.spi.store.JobStore."
        )
    return subject


async def _look(store: JobStore, *, is_first: bool) -> Store:
    """Opens, looks for what a look before has left, leaves a job, and closes."""
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
        return Store.seen(store)
    finally:
        await store.close()
