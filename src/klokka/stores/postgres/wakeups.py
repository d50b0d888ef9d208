"""Hints for idle workers, sent by the statements that make work claimable soon, when they commit."""

from collections.abc import AsyncGenerator

from klokka.stores.postgres.handle import Handle


class Wakeups(Handle):
    """Implements `PushCapableStore`."""

    async def wakeups(self) -> AsyncGenerator[None]:
        with self._open_session().listener.heard() as ear:
            while await ear.rung():
                yield
