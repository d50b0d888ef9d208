"""A kind as a value apart from its handler: what producers import."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from klokka.core.codecs import Codec, codec_for
from klokka.core.names import check_kind, check_queue
from klokka.core.records import NewJob
from klokka.errors import InvalidInput

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class JobType(Generic[P]):
    """The durable name of a type of job together with the class of its payload.

    `version` is written beside each payload, for code that must tell old ones from new.

    Raises:
        InvalidInput: or one of its kinds: a bad name, a version below 0, a class without a JSON form.
    """

    kind: str
    payload: type[P]
    queue: str = "default"
    version: int = 1

    def __post_init__(self) -> None:
        check_kind(self.kind)
        check_queue(self.queue)
        if not 0 <= self.version < 2**31:
            raise InvalidInput(f"version of {self.kind} must be 0 to {2**31 - 1}, not {self.version}.")
        self._codec()

    def new(self, payload: P) -> NewJob:
        """A request to run this with `payload`, encoded now, so that later changes of `payload` do not reach it.

        Raises:
            PayloadNotEncodable: it would not come back as it goes in.
        """
        return self._request(self._codec().encode(payload))

    def request(self, text: str) -> NewJob:
        """The same of a payload that is JSON text already, for tools.

        Raises:
            PayloadUndecodable: the text does not fit.
            PayloadNotEncodable: it has a field that the class does not know, or one given twice.
        """
        self._codec().check(text)
        return self._request(text)

    def decode(self, text: str) -> P:
        """The payload that `new` encoded.

        Raises:
            PayloadUndecodable: the text does not fit.
        """
        return self._codec().decode(text)

    def _request(self, text: str) -> NewJob:
        return NewJob(kind=self.kind, payload=text, payload_version=self.version, queue=self.queue)

    def _codec(self) -> Codec[P]:
        return codec_for(cast(Hashable, self.payload))
