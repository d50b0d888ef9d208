"""Hints for idle workers."""

from collections.abc import AsyncGenerator

from klokka.stores.memory.handle import Handle


class Wakeups(Handle):
    """Implements `PushCapableStore`. There is no connection that could drop [wakeups.recover]."""

    async def wakeups(self) -> AsyncGenerator[None]:
        with self._data.work.heard_here() as rung:
            rung.set()  # the first hint: the subscription is in place [wakeups.first]
            while True:
                await rung.wait()
                rung.clear()
                yield
