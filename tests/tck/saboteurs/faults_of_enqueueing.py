"""Faults of enqueueing that any store may have."""

import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from klokka.core.records import ClaimedJob, EnqueueResult, NewJob
from klokka.errors import InvalidInput
from tests.tck.saboteurs.registry import breaks


class _Changing:
    """Changes each job before it is stored."""

    change: Callable[[NewJob], NewJob]

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue([type(self).change(job) for job in jobs])


def _keyed(change: Callable[[str], str]) -> Any:
    return staticmethod(lambda job: job if job.unique_key is None else replace(job, unique_key=change(job.unique_key)))


def _paid(change: Callable[[str], str]) -> Any:
    return staticmethod(lambda job: replace(job, payload=change(job.payload)))


def _planned(change: Callable[[datetime], datetime]) -> Any:
    return staticmethod(
        lambda job: replace(job, run_at=change(job.run_at)) if isinstance(job.run_at, datetime) else job
    )


@breaks("enqueue.unique")
class FoldsTheCaseOfKeys(_Changing):
    change = _keyed(str.casefold)


@breaks("enqueue.unique")
class TrimsKeys(_Changing):
    change = _keyed(str.strip)


@breaks("enqueue.unique")
class NormalisesKeys(_Changing):
    change = _keyed(lambda key: unicodedata.normalize("NFC", key))


@breaks("enqueue.unique")
class KeepsKeysByQueue(_Changing):
    change = staticmethod(
        lambda job: job if job.unique_key is None else replace(job, unique_key=f"{job.queue}{job.unique_key}")
    )


@breaks("enqueue.unique")
class CutsLongKeys(_Changing):
    change = _keyed(lambda key: key[:64])


@breaks("enqueue.unique")
class SaysThatItCreatedTheHolder:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return [replace(result, created=True) for result in await super().enqueue(jobs)]


@breaks("enqueue.text")
class WritesPayloadsAnew(_Changing):
    @staticmethod
    def change(job: NewJob) -> NewJob:
        try:
            return replace(job, payload=json.dumps(json.loads(job.payload)))
        except ValueError:
            return job


@breaks("enqueue.text")
class SortsTheKeysOfPayloads(_Changing):
    @staticmethod
    def change(job: NewJob) -> NewJob:
        try:
            loaded = json.loads(job.payload)
        except ValueError:
            return job
        sorts = isinstance(loaded, dict) and sorted(loaded) != list(loaded)
        return replace(job, payload=json.dumps(loaded, sort_keys=True)) if sorts else job


@breaks("enqueue.text")
class ChangesLineEnds(_Changing):
    change = _paid(lambda text: text.replace("\r\n", "\n"))


@breaks("enqueue.text")
class NormalisesText(_Changing):
    change = _paid(lambda text: unicodedata.normalize("NFC", text))


@breaks("enqueue.text")
class CutsAtTheNul(_Changing):
    change = _paid(lambda text: text.partition("\0")[0])


@breaks("enqueue.text")
class ReplacesSurrogates(_Changing):
    change = _paid(lambda text: text.encode("utf-8", "replace").decode())


@breaks("enqueue.text")
class UnescapesBackslashes(_Changing):
    change = _paid(lambda text: text.replace("\\\\", "\\"))


@breaks("enqueue.text")
class KeepsPlanesBelowTheEmoji(_Changing):
    change = _paid(lambda text: "".join(char if ord(char) < 0x10000 else "?" for char in text))


@breaks("enqueue.headers")
class LowersTheNamesOfHeaders(_Changing):
    change = staticmethod(lambda job: replace(job, headers={n.lower(): v for n, v in job.headers.items()}))


@breaks("enqueue.headers")
class TrimsHeaders(_Changing):
    change = staticmethod(lambda job: replace(job, headers={n: v.strip() for n, v in job.headers.items()}))


@breaks("enqueue.headers")
class ReadsNumbersInHeaders:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return [
            replace(job, headers={n: int(v) if v.isdigit() else v for n, v in job.headers.items()})
            for job in await super().claim(**arguments)
        ]


@breaks("enqueue.headers")
class KeepsOurOwnHeadersToItself(_Changing):
    change = staticmethod(
        lambda job: replace(job, headers={n: v for n, v in job.headers.items() if not n.startswith("klokka.")})
    )


@breaks("time.resolution")
class RoundsUpToMilliseconds(_Changing):
    change = _planned(lambda at: at + timedelta(microseconds=-at.microsecond % 1000))


@breaks("time.resolution")
class KeepsMillisecondsAlone(_Changing):
    change = _planned(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000))


@breaks("time.resolution")
class KeepsTimesAsFloats(_Changing):
    change = _planned(lambda at: datetime.fromtimestamp(at.timestamp() / 3 * 3.0000000000000004, UTC))


@breaks("enqueue.limits")
class CountsCharactersForBytes(_Changing):
    @staticmethod
    def change(job: NewJob) -> NewJob:
        return replace(job, payload=job.payload[: 1024 * 1024 // 4])


@breaks("enqueue.empty")
class RefusesNothing:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        if not jobs:
            raise InvalidInput("no jobs")
        return await super().enqueue(jobs)


@breaks("enqueue.order")
class PutsNewJobsFirst:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return sorted(await super().enqueue(jobs), key=lambda result: not result.created)
