"""Runs a command with another PostgreSQL for the tests: `python -m tests.support.served BIN COMMAND…`.

BIN is the folder of its programs, such as /usr/lib/postgresql/15/bin. The server runs as an unprivileged user and ends with the
command, whose exit code is given on.
"""

import os
import subprocess
import sys
from pathlib import Path

from klokka.testing.postgres_binaries import Binaries
from klokka.testing.postgres_server import PostgresServer


def main() -> None:
    folder, *command = sys.argv[1:]
    with PostgresServer.start(binaries=Binaries(Path(folder))) as server:
        done = subprocess.run(command, env={**os.environ, "KLOKKA_TEST_POSTGRES": server.url()}, check=False)
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
