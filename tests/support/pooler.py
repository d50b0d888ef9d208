"""A pooler in transaction mode, as small as it can be: a session of the server for each transaction, never the same."""

import asyncio
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_SESSIONS: Final = 3
_STARTUP: Final = 196608

Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def transaction_pooler(where: str) -> AsyncGenerator[str]:
    """Where to connect to the same database through a pooler."""
    with TemporaryDirectory(prefix="klokka-pooler-") as folder:
        pooler = _Pooler(conninfo_to_dict(where))
        socket = Path(folder) / ".s.PGSQL.5432"
        server = await asyncio.start_unix_server(pooler.serve, str(socket))
        try:
            yield make_conninfo(where, host=folder)
        finally:
            server.close()
            await pooler.close()


class _Pooler:
    def __init__(self, target: dict[str, str]) -> None:
        self._target = target
        self._free: asyncio.Queue[Wire] = asyncio.Queue()
        self._made = 0
        self._wires: list[asyncio.StreamWriter] = []
        self._clients: set[asyncio.Task[None]] = set()
        self._greeting = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            await self._serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._clients.discard(task)
            writer.close()

    async def close(self) -> None:
        for client in list(self._clients):
            client.cancel()
        if self._clients:
            await asyncio.wait(self._clients)
        for wire in self._wires:
            wire.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (size,) = struct.unpack("!i", await reader.readexactly(4))
        (code,) = struct.unpack("!i", (await reader.readexactly(size - 4))[:4])
        if code != _STARTUP:
            return  # a request to cancel
        first = await self._take()
        self._free.put_nowait(first)
        writer.write(self._greeting)
        while True:
            asked = await self._question(reader)
            session = await self._take()
            try:
                while await self._answered(asked, session, writer) != b"I":
                    asked = await self._question(reader)
            finally:
                self._free.put_nowait(session)

    async def _question(self, reader: asyncio.StreamReader) -> bytes:
        """All that the client sends before it waits."""
        asked = b""
        while True:
            kind, message = await _message(reader)
            if kind == b"X":
                raise ConnectionError("the client says goodbye")
            asked += message
            if kind in (b"Q", b"S"):
                return asked

    async def _answered(self, asked: bytes, session: Wire, client: asyncio.StreamWriter) -> bytes:
        """Passes the answer on; the state of the transaction after it."""
        session[1].write(asked)
        while True:
            kind, message = await _message(session[0])
            if kind != b"A":  # a notification is for whoever was the session's client before
                client.write(message)
            if kind == b"Z":
                await client.drain()
                return message[-1:]

    async def _take(self) -> Wire:
        if self._free.empty() and self._made < _SESSIONS:
            self._made += 1
            return await self._connect()
        return await self._free.get()

    async def _connect(self) -> Wire:
        path = f"{self._target['host']}/.s.PGSQL.{self._target.get('port', '5432')}"
        reader, writer = await asyncio.open_unix_connection(path)
        self._wires.append(writer)
        words = ("user", self._target["user"], "database", self._target["dbname"], "client_encoding", "UTF8", "")
        body = struct.pack("!i", _STARTUP) + b"".join(word.encode() + b"\0" for word in words)
        writer.write(struct.pack("!i", len(body) + 4) + body)
        greeting = b""
        while True:
            kind, message = await _message(reader)
            if kind == b"K":  # numbers of our own, as poolers give them
                message = b"K" + struct.pack("!iii", 12, 1, 1)
            greeting += message
            if kind == b"Z":
                self._greeting = self._greeting or greeting
                return reader, writer


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    (size,) = struct.unpack("!i", head[1:])
    return head[:1], head + await reader.readexactly(size - 4)
