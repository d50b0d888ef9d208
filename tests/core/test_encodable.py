"""A class that no job could carry is refused where it is named, and nothing else is."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypedDict, TypeVar
from uuid import UUID

import msgspec
import pydantic
import pytest

from klokka.core.codecs import codec_for
from klokka.core.parameters import Parameters
from klokka.errors import InvalidInput

T = TypeVar("T")
Number = NewType("Number", int)


class Plain:
    pass


class Colour(Enum):
    RED = "red"


class Point(msgspec.Struct):
    x: int


class Person(pydantic.BaseModel):
    name: str


class Typed(TypedDict):
    id: int
    person: Person


class Named(NamedTuple):
    person: Person


@dataclass
class Tree:
    branches: list[Tree]
    parent: Tree | None = None


@dataclass
class Box(Generic[T]):
    inside: T


@dataclass
class Injected:
    id: int
    client: socket.socket | None = None
    found: Plain = field(default_factory=Plain)


@dataclass
class Parcel:
    lines: list[Box[Plain]]


@pytest.mark.parametrize(
    ("payload_type", "said"),
    [
        (object, "object at `$` has"),
        (socket.socket, "socket at `$` has"),
        (list[object], "object at `$[]` has"),
        (dict[str, object], "object at `$[]` has"),
        (tuple[int, Plain], "Plain at `$[1]` has"),
        (Box[Plain], "Plain at `$.inside` has"),
        (Parcel, "Plain at `$.lines[].inside` has"),
    ],
)
def test_a_class_without_a_json_form_is_refused_with_its_place(payload_type: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        codec_for(payload_type)

    assert said in str(refused.value)
    assert "or Any for whatever JSON comes" in str(refused.value)


def test_so_is_a_parameter_that_has_no_default() -> None:
    def takes(order: int, parcel: object) -> None: ...
    def may_take(order: int, client: socket.socket | None = None, plain: Plain = Plain()) -> None: ...  # noqa: B008

    with pytest.raises(InvalidInput, match=r"takes cannot be a payload: object at `\$\.parcel` has no JSON form"):
        Parameters(takes)
    assert Parameters(may_take).encode((7,), {}) == '{"order":7}'


@pytest.mark.parametrize(
    "payload_type",
    [
        *(
            Any,
            None,
            int,
            bytes,
            datetime,
            timedelta,
            Decimal,
            UUID,
            Colour,
            Number,
            Literal["a", 1],
            Annotated[int, "x"],
        ),
        *(Point, Person, Typed, Named, Tree, Injected, Box[int], Box[Person], T),
        *(Person | None, Plain | None, int | str, list[Person], dict[str, Person], tuple[Person, ...], set[int]),
        Mapping[str, Point],
    ],
    ids=str,
)
def test_what_some_payload_can_carry_is_let_through(payload_type: Any) -> None:
    codec_for(payload_type)
