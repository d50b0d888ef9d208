"""The process beside a server: waits until the last use of it is gone, stops it and removes its folder.

Run by its path and with nothing but the standard library, so that it is there before the server is.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def keep(folder: Path, pg_ctl: str, user: int) -> None:
    """Returns when the server is gone, and its folder with it. `user` is who runs it, where that is not ourselves."""
    with (folder / "users").open("rb") as users:
        fcntl.flock(users, fcntl.LOCK_EX)
        with suppress(OSError):  # the programs may be gone, the folder must go
            subprocess.run(  # noqa: S603 - the program that the server was started with
                [pg_ctl, "stop", "-w", "-m", "immediate", "-D", folder / "data"],
                check=False,
                stdin=subprocess.DEVNULL,
                cwd="/",
                user=None if user == os.geteuid() else user,
            )
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if os.fork():  # whoever starts a server has no child to wait for
        os._exit(0)
    keep(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
