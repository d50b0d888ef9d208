"""What decoding leaves aside of a payload's text, and enqueueing must not: fields that its class does not know, and
those given twice."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

import msgspec

from klokka.core.names import shown
from klokka.errors import PayloadNotEncodable


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LostField:
    """Where it stands, such as `$.lines[0].prize`, and which fields are known there; none where that is unknown."""

    path: str
    known: tuple[str, ...]


def lost_field(given: Any, decoded: Any, known: Iterable[str] = ()) -> LostField | None:
    """The first field in JSON values that is in nothing that they were decoded to; `known` are those of the whole.

    Nothing is said of what is in a set, whose order is another, and of objects whose class tells no fields.
    """
    ahead: list[tuple[Any, Any, str]] = [(given, decoded, "$")]
    while ahead:
        value, back, path = ahead.pop()
        if getattr(back, "__pydantic_root_model__", False):
            back = back.root
        if _is_array(value) and _is_array(back):
            parts = [(one, item, f"{path}[{at}]") for at, (one, item) in enumerate(zip(value, back, strict=False))]
        elif _is_object(value) and (fields := _fields(value, back)) is not None:
            lost = next((name for name in value if name not in fields), None)
            if lost is not None:
                told = known if path == "$" and known else () if fields is back else fields
                return LostField(path=f"{path}.{lost}", known=tuple(told))
            parts = [(one, fields[name], f"{path}.{name}") for name, one in value.items()]
        else:
            continue
        ahead += reversed(parts)
    return None


def check_said_once(text: str) -> None:
    """Returns if no object in JSON `text` gives a name twice: readers keep one of the values, and drop the others.

    Raises:
        PayloadNotEncodable: one does, and which name.
    """

    def look(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise PayloadNotEncodable(
                    f"the payload gives {shown(name)} twice in one object, and one of the values would be lost. "
                    "Give it once."
                )
            seen.add(name)

    json.loads(text, object_pairs_hook=look, parse_int=str)  # a number may be longer than Python reads


def _is_array(value: Any) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)


def _is_object(value: Any) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)


def _fields(given: dict[str, Any], decoded: Any) -> Mapping[str, Any] | None:
    """What an object in JSON was decoded to, by the names in it; None where that cannot be known."""
    if _is_object(decoded):
        whole = all(isinstance(key, str) for key in decoded)
        # keys of another class are all kept, in their order
        return decoded if whole else dict(zip(given, decoded.values(), strict=False))
    if isinstance(decoded, msgspec.Struct):
        config = decoded.__struct_config__
        tag = {} if config.tag_field is None else {config.tag_field: config.tag}
        names = zip(decoded.__struct_encode_fields__, decoded.__struct_fields__, strict=True)
        return {**tag, **{encoded: getattr(decoded, name) for encoded, name in names}}
    if dataclasses.is_dataclass(decoded):
        return {field.name: getattr(decoded, field.name) for field in dataclasses.fields(decoded)}
    return _of_model(decoded) if hasattr(decoded, "__pydantic_fields__") else None


def _of_model(model: Any) -> Mapping[str, Any] | None:
    """What a pydantic model prints, and the names and aliases under which it takes its fields."""
    fields: dict[str, Any] = model.__pydantic_fields__
    aliases = {name: field.validation_alias for name, field in fields.items() if field.validation_alias is not None}
    if not all(isinstance(alias, str) for alias in aliases.values()):
        return None  # a path or a choice of names
    taken: dict[str, Any] = dict.fromkeys(model.model_dump(mode="json"))
    for name in fields:
        taken[name] = taken[aliases.get(name, name)] = getattr(model, name)
    return taken
