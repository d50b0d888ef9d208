"""A function's parameters as a payload."""

from typing import TYPE_CHECKING

import pytest

from klokka.core.parameters import Parameters
from klokka.errors import InvalidInput, PayloadNotEncodable, PayloadUndecodable

if TYPE_CHECKING:
    from decimal import Decimal


async def welcome(user_id: int, locale: str = "en", *, tags: list[str] | None = None) -> None: ...


def test_arguments_stand_in_the_payload_by_name_and_defaults_stay_out() -> None:
    parameters = Parameters(welcome)

    assert parameters.encode((7,), {}) == '{"user_id":7}'
    assert parameters.encode((7, "no"), {"tags": ["a"]}) == '{"user_id":7,"locale":"no","tags":["a"]}'


def test_the_handlers_own_default_holds_when_it_runs() -> None:
    assert Parameters(welcome).decode('{"user_id":7}') == {"user_id": 7}


def test_unknown_fields_of_a_newer_producer_are_left_aside() -> None:
    assert Parameters(welcome).decode('{"user_id":7,"added":1}') == {"user_id": 7}


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((), {}, "missing a required argument: 'user_id'"),
        ((1, "en", 3), {}, "too many positional arguments"),
        ((1,), {"other": 2}, r"unexpected keyword argument 'other'\.$"),
        ((), {"user_ids": 2}, r"unexpected keyword argument 'user_ids'\. Did you mean user_id\?"),
        (("7",), {}, r"Expected `int`, got `str` - at `\$.user_id`"),
        ((1,), {"tags": ("a",)}, "argument tags .* would come back as"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(args: tuple[object, ...], kwargs: dict[str, object], said: str) -> None:
    with pytest.raises(PayloadNotEncodable, match=said):
        Parameters(welcome).encode(args, kwargs)


def test_a_payload_that_does_not_fit_any_more_is_undecodable() -> None:
    with pytest.raises(PayloadUndecodable, match="user_id"):
        Parameters(welcome).decode("{}")


def test_parameters_without_hints_take_any_json() -> None:
    def plain(a, b=1):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        ...

    assert Parameters(plain).decode('{"a":[1,{"x":null}]}') == {"a": [1, {"x": None}]}


def test_variadic_and_positional_only_parameters_are_refused() -> None:
    def variadic(*names: str) -> None: ...
    def keywords(**names: str) -> None: ...
    def positional(name: str, /) -> None: ...

    for function in (variadic, keywords, positional):
        with pytest.raises(InvalidInput, match="cannot stand in a payload by name"):
            Parameters(function)


def test_a_hint_that_exists_for_checkers_alone_is_refused_with_its_name() -> None:
    def priced(price: "Decimal") -> None: ...

    with pytest.raises(InvalidInput, match=r"'Decimal' is not defined.*not under TYPE_CHECKING"):
        Parameters(priced)
