"""A field that the class of a payload does not know is refused at the door, wherever it stands."""

from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

import msgspec
import pydantic
import pytest

from klokka.core.codecs import codec_for
from klokka.errors import PayloadNotEncodable


@dataclass
class Line:
    article: str
    price: int = 0


@dataclass
class Order:
    id: int
    lines: list[Line] = field(default_factory=list)
    notes: dict[str, Line] = field(default_factory=dict)
    pair: tuple[Line, Line] | None = None
    extra: Any = None


class Typed(TypedDict):
    id: int
    line: NotRequired[Line]


class Point(msgspec.Struct, rename="camel", tag="point", omit_defaults=True):
    from_x: int = 0


class Circle(msgspec.Struct, tag="circle"):
    r: int = 0


class Person(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)

    full_name: str = pydantic.Field(default="", alias="fullName")
    lines: list[Line] = []

    @pydantic.computed_field
    def initials(self) -> str:
        return self.full_name[:1]


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")


class Chosen(pydantic.BaseModel):
    name: str = pydantic.Field(default="", validation_alias=pydantic.AliasChoices("name", "nom"))


class Lines(pydantic.RootModel[list[Line]]):
    pass


@pytest.mark.parametrize(
    ("payload_type", "text", "path", "known"),
    [
        (Order, '{"id":1,"lnes":[]}', "$.lnes", "id, lines, notes, pair, extra"),
        (Order, '{"id":1,"lines":[{"article":"a"},{"article":"b","prize":2}]}', "$.lines[1].prize", "article, price"),
        (Order, '{"id":1,"notes":{"x":{"article":"a","prize":2}}}', "$.notes.x.prize", "article, price"),
        (Order, '{"id":1,"pair":[{"article":"a"},{"article":"b","":2}]}', "$.pair[1].", "article, price"),
        (Typed, '{"id":1,"lnie":{}}', "$.lnie", "id, line"),
        (Typed, '{"id":1,"line":{"article":"a","prize":1}}', "$.line.prize", "article, price"),
        (Point, '{"fromX":1,"from_x":1}', "$.from_x", "type, fromX"),
        (Point | Circle, '{"type":"circle","r":1,"fromX":1}', "$.fromX", "type, r"),
        (Person, '{"full_nam":"x"}', "$.full_nam", "full_name, lines, initials, fullName"),
        (Person, '{"lines":[{"article":"a","prize":1}]}', "$.lines[0].prize", "article, price"),
        (Lines, '[{"article":"a","prize":1}]', "$[0].prize", "article, price"),
        (list[dict[int, Line]], '[{"1":{"article":"a","prize":1}}]', "$[0].1.prize", "article, price"),
    ],
)
def test_a_field_that_would_be_lost_is_named_with_the_known_ones(
    payload_type: Any, text: str, path: str, known: str
) -> None:
    with pytest.raises(PayloadNotEncodable) as refused:
        codec_for(payload_type).check(text)

    assert f"has the field {path!r}, which" in str(refused.value)
    assert str(refused.value).endswith(f"Known there: {known}.")


@pytest.mark.parametrize(
    ("payload_type", "text", "name"),
    [
        (Order, '{"id":1,"id":2}', "id"),
        (Order, '{"id":1,"extra":[{"a":{"b":1,"c":2,"b":1}}]}', "b"),
        (Person, '{"full_name":"x","full_name":"y"}', "full_name"),
        (dict[str, int], '{"a":1,"\\u0061":2}', "a"),
        (Any, '{"n":1,"n":2}', "n"),
    ],
)
def test_a_name_given_twice_in_one_object_is_refused(payload_type: Any, text: str, name: str) -> None:
    with pytest.raises(PayloadNotEncodable, match=f"gives '{name}' twice in one object"):
        codec_for(payload_type).check(text)


@pytest.mark.parametrize(
    ("payload_type", "text"),
    [
        (Any, '[{"n":1},{"n":{"n":2}}]'),
        (Order, '{"id":1,"extra":{"what":["ever",{"it":"is"}]}}'),
        (Point, '{"type":"point","fromX":0}'),
        (Person, '{"fullName":"x","initials":"x"}'),
        (Person, '{"full_name":"x"}'),
        (Chosen, '{"nom":"x"}'),
        (Open, '{"a":{"b":1}}'),
        (dict[int, Line], '{"1":{"article":"a"},"2":{"article":"b"}}'),
        (dict[str, int], '{"a":1}'),
        (Any, '{"a":[{"b":1}]}'),
        (Any, "[" * 500 + "]" * 500),
        (set[int], "[1,2,1]"),
        (int, "1"),
    ],
)
def test_what_comes_through_is_let_through(payload_type: Any, text: str) -> None:
    codec_for(payload_type).check(text)
