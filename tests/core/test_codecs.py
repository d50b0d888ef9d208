"""Payloads come back as they went in, or are refused."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec
import pydantic
import pytest
from hypothesis import given, strategies as st

from klokka.core.codecs import codec_for
from klokka.errors import InvalidInput, PayloadNotEncodable, PayloadUndecodable


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Order:
    id: int
    total: Decimal = Decimal("0.10")
    at: datetime | None = None
    extra: Any = None


class Point(msgspec.Struct):
    x: float
    y: float = 0.0


class Person(pydantic.BaseModel):
    name: str
    born: datetime


class ByIdentity:
    pass


@pytest.mark.parametrize(
    ("payload_type", "payload"),
    [
        (Order, Order(2**63)),
        (Order, Order(2**53 + 1, Decimal("1.10000000000000000001"))),
        (Order, Order(1, at=datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=5))))),
        (Order, Order(1, at=datetime(2024, 1, 1))),  # noqa: DTZ001
        (Order, Order(1, extra={"a": [1, 2.5, None, "é", True]})),
        (Point, Point(1.5, 2)),
        (Person, Person(name="x", born=datetime(2024, 1, 1, tzinfo=UTC))),
        (dict[str, int], {"a": 1}),
        (list[Colour], [Colour.RED]),
        (set[int], {1, 2}),
        (tuple[int, str], (1, "x")),
        (UUID, UUID(int=7)),
        (type(None), None),
    ],
)
def test_a_payload_comes_back_as_it_went_in(payload_type: Any, payload: object) -> None:
    codec = codec_for(payload_type)

    assert codec.decode(codec.encode(payload)) == payload


@pytest.mark.parametrize(
    ("payload_type", "payload", "said"),
    [
        (Point, Point(math.nan), r"is no Point.*NaN and infinity have no JSON form"),
        (Point, Point(math.inf), "is no Point"),
        (Order, Order(1, extra=math.nan), "would come back"),
        (Order, Order(1, extra=(1, 2)), r"would come back as .*\[1, 2\]"),
        (Order, Order(1, extra=Decimal(1)), "Give its fields exact types"),
        (Order, Order(1, extra={1: "one"}), "would come back"),
        (Order, Order("7"), "Expected `int`, got `str`"),  # type: ignore[arg-type]
        (Order, Order(1, extra="\ud800"), "has a lone surrogate in .* at position 1"),
        (Order, Order(1, extra=ByIdentity()), "ByIdentity have no JSON form"),
        (Person, {"name": "x"}, "is no Person"),
    ],
)
def test_a_payload_that_would_change_is_refused(payload_type: Any, payload: object, said: str) -> None:
    with pytest.raises(PayloadNotEncodable, match=said):
        codec_for(payload_type).encode(payload)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_any_json_value_comes_back_equal_or_is_refused(value: object) -> None:
    codec = codec_for(Any)
    try:
        text = codec.encode(value)
    except PayloadNotEncodable:
        return

    assert codec.decode(text) == value


def test_old_and_new_code_read_each_other() -> None:
    codec = codec_for(Order)

    assert codec.decode('{"id": 1, "added_later": true}') == Order(1)
    assert codec.decode('{"id": 1}') == Order(1)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"id": "x"}', "null", "nonsense", "[" * 100_000])
def test_a_text_that_does_not_fit_is_undecodable(text: str) -> None:
    with pytest.raises(PayloadUndecodable, match="the payload is no Order"):
        codec_for(Order).decode(text)


def test_a_class_that_msgspec_refuses_is_refused_when_the_kind_is_made() -> None:
    with pytest.raises(InvalidInput, match="cannot be a payload"):
        codec_for(dict[tuple[int, ...] | list[int], int] | list[int] | set[int])
