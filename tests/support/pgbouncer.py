"""PgBouncer in transaction mode before a database, where it is installed."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from klokka.testing.postgres_binaries import as_server_user

PROGRAM: Final = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
_CONFIGURATION: Final = """
[databases]
{name} = {target}

[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = 3
logfile = {folder}/log
"""


@asynccontextmanager
async def pgbouncer(where: str) -> AsyncGenerator[str]:
    """Where to connect to the same database through PgBouncer."""
    with TemporaryDirectory(prefix="klokka-bouncer-") as folder, _running(where, Path(folder)) as process:
        pooler = make_conninfo(where, host=folder, port=6432)
        await _answering(pooler, process)
        yield pooler


@contextmanager
def _running(where: str, folder: Path) -> Generator[subprocess.Popen[bytes]]:
    assert PROGRAM is not None
    name = conninfo_to_dict(where)["dbname"]
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(_CONFIGURATION.format(name=name, target=make_conninfo(where), folder=folder))
    folder.chmod(0o777)
    with subprocess.Popen([PROGRAM, "--quiet", configuration], **as_server_user(), cwd="/") as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(10)


async def _answering(where: str, process: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(10):
        while True:
            assert process.poll() is None, "PgBouncer has ended"
            with suppress(psycopg.OperationalError):
                await (await psycopg.AsyncConnection.connect(where)).close()
                return
            await asyncio.sleep(0.02)
