"""Payloads to JSON text and back, found by class. What comes back equals what went in, or it is refused."""

import functools
import typing
from collections.abc import Hashable
from typing import Any, Final, Generic, TypeVar

import msgspec

from klokka.core.encodable import is_model, unfit
from klokka.core.names import shown
from klokka.errors import InvalidInput, PayloadNotEncodable, PayloadUndecodable

P = TypeVar("P")

_UNFIT: Final = (TypeError, ValueError, OverflowError, RecursionError, NotImplementedError)


class Codec(Generic[P]):
    """Turns payloads of one class into text and back: a dataclass, a msgspec struct, a pydantic model, JSON types.

    Decoding leaves unknown fields aside, and missing ones take their defaults, so that old and new code read each other.
    """

    def __init__(self, payload_type: Any) -> None:
        self._type = payload_type
        self._encode = msgspec.json.Encoder(enc_hook=_to_plain).encode
        try:
            self._decode = msgspec.json.Decoder(payload_type, dec_hook=_from_plain).decode
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"{name_of(payload_type)} cannot be a payload: {error}. "
                "Use a dataclass, a msgspec Struct, a pydantic model or plain JSON types."
            ) from error
        if (fault := unfit(payload_type)) is not None:
            raise InvalidInput(
                f"{name_of(payload_type)} cannot be a payload: {name_of(fault.cls)} at `{fault.place}` has no JSON form. "
                "Use a dataclass, a msgspec Struct, a pydantic model or plain JSON types, or Any for whatever JSON comes."
            )

    def encode(self, payload: P) -> str:
        """JSON text that decodes to an equal payload.

        Raises:
            PayloadNotEncodable: there is no such text: NaN, an unknown class, a value that would change.
        """
        text, back = self.trip(payload)
        check_same(back, payload)
        return text

    def trip(self, payload: Any) -> tuple[str, P]:
        """JSON text of `payload`, and what it decodes to, for the caller to compare.

        Raises:
            PayloadNotEncodable: it has no JSON text, or none that fits the class.
        """
        try:
            raw = self._encode(payload)
            return raw.decode(), self._decode(raw)
        except UnicodeEncodeError as error:
            raise PayloadNotEncodable(
                f"payload {shown(payload)} has a lone surrogate in {shown(error.object)} at position {error.start + 1}. "
                "Replace it before you enqueue."
            ) from error
        except _UNFIT as error:
            hint = "NaN and infinity have no JSON form." if "`null`" in str(error) else "Give what the annotations say."
            raise PayloadNotEncodable(
                f"payload {shown(payload)} is no {name_of(self._type)}: {error}. {hint}"
            ) from error

    def decode(self, text: str) -> P:
        """The payload.

        Raises:
            PayloadUndecodable: the text does not fit the class.
        """
        try:
            payload: P = self._decode(text)
        except _UNFIT as error:
            fault = str(error) if text.strip() else "it is empty, and the least that is JSON is {}"
            raise PayloadUndecodable(
                f"the payload is no {name_of(self._type)}: {fault}. Correct it, or let its class take this too."
            ) from error
        return payload

    def check(self, text: str) -> None:
        """Returns if `text`, which somebody wrote by hand, is a payload of the class and would come through whole.

        Raises:
            PayloadUndecodable: it does not fit the class.
            PayloadNotEncodable: it has a field that the class does not know, or one given twice; a value would be lost
                in silence.
        """
        from klokka.core.lost_fields import check_said_once, lost_field

        decoded = self.decode(text)
        check_said_once(text)
        lost = lost_field(msgspec.json.decode(text), decoded, _keys(self._type))
        if lost is not None:
            known = f" Known there: {', '.join(lost.known)}." if lost.known else ""
            raise PayloadNotEncodable(
                f"the payload has the field {shown(lost.path)}, which {name_of(self._type)} does not know and would lose."
                + known
            )


@functools.lru_cache(maxsize=1024)
def codec_for(payload_type: Hashable) -> Codec[Any]:
    """The codec of a payload class, made once.

    Raises:
        InvalidInput: no JSON form of the class is known.
    """
    return Codec(payload_type)


def check_same(back: Any, payload: Any, what: str = "payload") -> None:
    """Returns if `back` equals `payload`; classes that compare by identity are compared by their parts.

    Raises:
        PayloadNotEncodable: says what would come back.
    """
    if back == payload:
        return
    equality: Any = type(payload).__eq__
    by_identity = equality is object.__eq__
    if by_identity and msgspec.to_builtins(back, enc_hook=_to_plain) == msgspec.to_builtins(
        payload, enc_hook=_to_plain
    ):
        return
    raise PayloadNotEncodable(
        f"{what} {shown(payload)} would come back as {shown(back)}. "
        "Give its fields exact types, and no NaN or infinity."
    )


def _keys(payload_type: Any) -> tuple[str, ...]:
    """The keys of a TypedDict; none of other classes, whose objects tell their fields."""
    if not typing.is_typeddict(payload_type):
        return ()
    return tuple(sorted(payload_type.__required_keys__ | payload_type.__optional_keys__))


def name_of(payload_type: Any) -> str:
    """How messages call a class."""
    return getattr(payload_type, "__name__", str(payload_type))


def _to_plain(value: Any) -> Any:
    if is_model(type(value)):
        return value.model_dump(mode="json")
    raise NotImplementedError(f"objects of class {type(value).__name__} have no JSON form")


def _from_plain(payload_type: type[Any], value: Any) -> Any:
    if is_model(payload_type):
        return payload_type.model_validate_json(msgspec.json.encode(value))
    raise NotImplementedError(f"objects of class {name_of(payload_type)} have no JSON form")
