"""Annotations that no value can travel under: found where the class is given, before every job of it fails."""

from typing import Any, NamedTuple

from msgspec import inspect


class Unfit(NamedTuple):
    """Where it stands, such as `$.lines[].parcel`, `$` for the whole; and the class without a JSON form."""

    place: str
    cls: Any


def unfit(payload_type: Any) -> Unfit | None:
    """The first class in `payload_type` that has no JSON form and that a payload cannot go without.

    It can without what has a default, and without one way of several in a union: those are let through.
    """
    return _unfit(inspect.type_info(payload_type), "$", ())


def _unfit(found: Any, place: str, above: tuple[int, ...]) -> Unfit | None:
    if id(found) in above:  # a class that holds itself
        return None
    inner = (*above, id(found))
    parts: list[tuple[Any, str]] = []
    match found:
        case inspect.CustomType(cls=cls):
            return None if is_model(cls) else Unfit(place, cls)
        case inspect.UnionType(types=ways):
            faults = [_unfit(way, place, inner) for way in ways]
            return faults[0] if all(faults) else None
        case inspect.CollectionType(item_type=item) | inspect.VarTupleType(item_type=item):
            parts = [(item, f"{place}[]")]
        case inspect.TupleType(item_types=items):
            parts = [(item, f"{place}[{at}]") for at, item in enumerate(items)]
        case inspect.DictType(key_type=key, value_type=value):
            parts = [(key, f"{place}[]"), (value, f"{place}[]")]
        case (
            inspect.DataclassType(fields=fields)
            | inspect.StructType(fields=fields)
            | inspect.TypedDictType(fields=fields)
            | inspect.NamedTupleType(fields=fields)
        ):
            parts = [(field.type, f"{place}.{field.encode_name}") for field in fields if field.required]
        case _:
            pass
    return next((fault for part, at in parts if (fault := _unfit(part, at, inner)) is not None), None)


def is_model(cls: Any) -> bool:
    """Whether it is a pydantic model, known by its own attributes so that pydantic is not imported here."""
    return hasattr(cls, "__pydantic_fields__")
