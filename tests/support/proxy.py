"""A wire between a client and a server that can be cut, slow down, or fall silent without a word."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Proxy:
    """Passes bytes on in both directions, to a server on a Unix socket."""

    def __init__(self, target: str) -> None:
        self.where = ""
        self.connections = 0
        """How many were made so far."""
        self.round_trips = 0
        """How often a client spoke that had been spoken to, on all connections."""
        self._target = target
        self._open = asyncio.Event()
        self._open.set()
        self._refusing = False
        self._delay = 0.0
        self._swallowed: set[asyncio.StreamWriter] = set()
        self._wires: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def silence(self) -> None:
        """From now on nothing passes, and nobody is told."""
        self._open.clear()

    def speak(self) -> None:
        """Passes on again; what came meanwhile first."""
        self._open.set()

    def swallow(self) -> None:
        """From now on nothing passes on the connections that are there, and nobody is told; new ones are sound."""
        self._swallowed |= self._wires

    def delay(self, seconds: float) -> None:
        """From now on everything is later by so much, in each direction."""
        self._delay = seconds

    def cut(self, *, refuse: bool = False) -> None:
        """Ends all connections; new ones too, until `mend`, where `refuse` says so."""
        self._refusing = refuse
        for wire in list(self._wires):
            wire.transport.abort()

    def mend(self) -> None:
        """Takes connections again."""
        self._refusing = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self._refusing:
            writer.close()
            return
        there = await asyncio.open_unix_connection(self._target)
        self._wires |= {writer, there[1]}
        answered = asyncio.Event()
        answered.set()
        ways = [
            asyncio.create_task(self._pass(reader, there[1], lambda: self._asked(answered))),
            asyncio.create_task(self._pass(there[0], writer, answered.set)),
        ]
        self._tasks.update(ways)
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for wire in (writer, there[1]):
            self._wires.discard(wire)
            self._swallowed.discard(wire)
            wire.close()

    async def close(self) -> None:
        self.cut(refuse=True)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _asked(self, answered: asyncio.Event) -> None:
        self.round_trips += answered.is_set()
        answered.clear()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: Callable[[], None]
    ) -> None:
        try:
            while data := await reader.read(65536):
                heard()
                await self._open.wait()
                if self._delay:
                    await asyncio.sleep(self._delay)
                if writer not in self._swallowed:
                    writer.write(data)
        except ConnectionError:
            pass


@asynccontextmanager
async def proxy_to(where: str) -> AsyncGenerator[Proxy]:
    """A proxy before the database; `proxy.where` is where clients connect."""
    target = conninfo_to_dict(where)
    proxy = Proxy(f"{target['host']}/.s.PGSQL.{target.get('port', '5432')}")
    with TemporaryDirectory(prefix="klokka-proxy-") as folder:
        server = await asyncio.start_unix_server(proxy.serve, str(Path(folder) / ".s.PGSQL.5432"))
        proxy.where = make_conninfo(where, host=folder)
        try:
            yield proxy
        finally:
            server.close()
            await proxy.close()
