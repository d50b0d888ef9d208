"""Every error that Klokka raises, so that callers catch by meaning and never by driver.

KlokkaError
├── InvalidInput (ValueError)      refused at the door; nothing was written
│   ├── InvalidName                a kind, queue, key, worker or lease name
│   ├── InvalidTime                naive, negative or beyond the calendar
│   ├── InvalidSchedule            a cron text, builder or zone; names field and position
│   ├── LimitExceeded              larger than the store's stated limit
│   ├── PayloadNotEncodable        would not come back as it went in
│   ├── UnknownStore               no store for this URL
│   ├── UnknownSchedule            the store has never seen a schedule of this id
│   ├── MissingExtra               the package behind an extra is not installed
│   ├── WrongTransaction           `tx` is of the wrong sort, or not in a transaction
│   └── UnsupportedByStore         the store lacks the capability that this needs
├── MisuseError (RuntimeError)     right arguments at the wrong moment or on the wrong loop
├── UniqueConflict                 another live job holds the unique key; carries its id
├── NotRetryable                   raised by handlers: straight to the dead letters
│   └── PayloadUndecodable         the stored payload does not fit the kind any more
├── ProcessFailure                 a handler's process died, or its exception could not leave it
├── WorkerLost                     a job's worker was lost too often, or on the last attempt
├── JobTimeout (TimeoutError)      a handler ran longer than its kind's `timeout`
└── StoreError
    ├── StoreUnavailable           cannot be reached; nothing is known to have changed
    │   └── Busy                   waited up to the store's bound; nothing was written; try again
    ├── UnknownOutcome             the connection broke during a write: it may have happened
    ├── StoreFull                  the disk or quota is full; nothing was written
    ├── StoreReadOnly              the store cannot be written by us
    └── SchemaMismatch             newer than this code, foreign or damaged; the message names both versions
"""

from typing import ClassVar


class KlokkaError(Exception):
    """Base of every error of this package."""


class InvalidInput(KlokkaError, ValueError):
    """The input was refused before anything was written."""


class InvalidName(InvalidInput):
    """A name has characters or a length that names do not have."""


class InvalidTime(InvalidInput):
    """An instant is naive or out of range, or a duration is negative where it must not be."""


class InvalidSchedule(InvalidInput):
    """A schedule was refused; the message names the field, the position and a hint."""


class LimitExceeded(InvalidInput):
    """A value is larger than the limit that the store states."""


class PayloadNotEncodable(InvalidInput):
    """The payload would not come back from JSON as it went in."""


class UnknownStore(InvalidInput):
    """No store answers to this URL."""


class UnknownSchedule(InvalidInput):
    """The store has never seen a schedule of this id."""


class MissingExtra(InvalidInput):
    """An optional package is needed; the message has the command that installs it."""


class WrongTransaction(InvalidInput):
    """The connection given as `tx` cannot carry an enqueue: wrong sort, closed or not in a transaction."""


class UnsupportedByStore(InvalidInput):
    """The store is valid and lacks the capability that this call needs."""


class MisuseError(KlokkaError, RuntimeError):
    """The call is right but its moment, thread or event loop is not."""


class UniqueConflict(KlokkaError):
    """Another live job holds the unique key, and nothing was changed; `holder` is its id."""

    def __init__(self, message: str, *, holder: int) -> None:
        super().__init__(message)
        self.holder = holder


class NotRetryable(KlokkaError):
    """Raised by a handler, or a base for a user's own errors: the job goes to the dead letters at once."""


class PayloadUndecodable(NotRetryable):
    """The stored payload does not fit the kind; its text is kept as it is."""


class ProcessFailure(KlokkaError):
    """A handler's process died under its job, or raised what cannot leave a process; the message says which."""


class WorkerLost(KlokkaError):
    """A job was lost with its worker too often or on its last attempt, and was not started again."""


class JobTimeout(KlokkaError, TimeoutError):
    """The handler ran longer than the `timeout` of its kind and was ended."""


class StoreError(KlokkaError):
    """The store could not do it. `retry_is_safe` says whether a repetition can change the result."""

    retry_is_safe: ClassVar[bool] = False


class StoreUnavailable(StoreError):
    """The store cannot be reached; this call has changed nothing."""

    retry_is_safe = True


class Busy(StoreUnavailable):
    """The store's stated wait for the writer's place or for a key is over; nothing was written."""


class UnknownOutcome(StoreError):
    """The connection broke during a write: it may or may not have happened."""


class StoreFull(StoreError):
    """Disk or quota is full; nothing was written."""

    retry_is_safe = True


class StoreReadOnly(StoreError):
    """File, directory or server refuses to be written."""


class SchemaMismatch(StoreError):
    """The schema is newer than this code, not ours, or damaged; the message says which and what next."""
