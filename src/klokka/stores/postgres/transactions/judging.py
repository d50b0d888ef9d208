"""What an error on the caller's connection means here, whichever library raised it. None of them is imported."""

from typing import Final

import psycopg

from klokka.errors import Busy, KlokkaError, SchemaMismatch, StoreError, StoreUnavailable, WrongTransaction
from klokka.stores.postgres.failures import UNSEEN_HOLDER, translated
from klokka.stores.postgres.setting import Setting

_LIBRARIES: Final = frozenset({"psycopg", "psycopg2", "asyncpg", "sqlalchemy", "django"})
_TOO_NEW: Final = frozenset({"40001", UNSEEN_HOLDER})
"""Another transaction has committed what this one's snapshot does not show."""


def sqlstate_of(error: BaseException) -> str | None:
    """The server's code, if it was the server that refused: from the driver's own error or what wraps that."""
    for one in _within(error):
        for attribute in ("sqlstate", "pgcode"):
            code = getattr(one, attribute, None)
            if isinstance(code, str):
                return code
    return None


def judged(error: Exception, setting: Setting, *, begin: str) -> Exception:
    """The project's error for a library's, to be raised from it; any other comes back as it is.

    `begin` says how a transaction is begun on such a connection. What was written before the call still stands in the
    caller's transaction, unless the connection is gone.
    """
    if isinstance(error, TimeoutError):
        return Busy(
            f"{setting.where}: tx had no answer within the time that it allows. Nothing was written; try again."
        )
    code = sqlstate_of(error)
    if code is None:
        return _without_code(error, setting)
    said = _said(error)
    match code:
        case "25P01":
            return WrongTransaction(f"tx is in no transaction, and the insert would commit by itself. {begin}")
        case "25P02":
            return WrongTransaction(
                "the transaction of tx has failed and takes nothing more. Roll it back, or to a savepoint, and try again."
            )
        case _ if code in _TOO_NEW:
            return Busy(
                f"{setting.where}: the job that holds a unique key is newer than what this transaction sees ({said}). "
                f"Nothing was written; roll the transaction back and run it again."
            )
        case "3F000" | "42P01":
            return SchemaMismatch(
                f"the database that tx is connected to has no schema {setting.schema.name!r} of Klokka's, or a damaged "
                f"one ({said}). Run `klokka migrate`, or connect tx to the store's database, {setting.where}."
            )
        case _:
            ours = translated(_in_psycopgs_terms(code, error), setting.where, may_be_done=False)
            return (
                ours if isinstance(ours, KlokkaError) else StoreError(f"{setting.where}: PostgreSQL refused ({said}).")
            )


def _without_code(error: Exception, setting: Setting) -> Exception:
    if not any(kind.__module__.partition(".")[0] in _LIBRARIES for kind in type(error).__mro__):
        return error
    names = {kind.__name__ for one in _within(error) for kind in type(one).__mro__}
    if "OperationalError" in names or "OSError" in names:
        return StoreUnavailable(
            f"{setting.where}: the connection of tx is lost, and its transaction with it ({_said(error)})."
        )
    return WrongTransaction(f"tx cannot be used: {_said(error)}")


def _in_psycopgs_terms(code: str, error: Exception) -> psycopg.Error:
    """The error as psycopg's, by which all the rest is told apart."""
    for one in _within(error):
        if isinstance(one, psycopg.Error):
            return one
    constraint = next((name for one in _within(error) if (name := getattr(one, "constraint_name", None))), "")
    if str(constraint).endswith("_calendar"):
        code = "22008"
    try:
        kind = psycopg.errors.lookup(code)
    except KeyError:
        kind = psycopg.DatabaseError
    made = kind(_said(error))
    made.sqlstate = code
    return made


def _within(error: BaseException) -> list[BaseException]:
    """The error, and those that it wraps."""
    found = [error]
    while (inner := getattr(found[-1], "orig", None) or found[-1].__cause__) is not None and inner not in found:
        found.append(inner)
    return found


def _said(error: BaseException) -> str:
    lines = str(_within(error)[-1]).strip().splitlines()
    return lines[0] if lines else type(error).__name__
