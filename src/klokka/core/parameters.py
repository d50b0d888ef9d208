"""A function's own parameters as a payload: a JSON object by name."""

import inspect
import typing
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Final, NotRequired

from klokka.core.codecs import Codec, check_same
from klokka.errors import InvalidInput, PayloadNotEncodable

_TYPED_DICT: Final[Any] = typing.TypedDict  # called with fields that no checker can know


class Parameters:
    """The codec of one function's parameters.

    An argument left out is left out of the payload too, so that the handler's own default holds when it runs, and
    adding an optional parameter is a compatible change.

    Raises:
        InvalidInput: a parameter is positional-only or variadic, or a hint cannot be resolved; or it is a method.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._signature = inspect.signature(function)
        hints = self._hints(function)
        fields: dict[str, Any] = {}
        if next(iter(self._signature.parameters), None) == "self":
            raise InvalidInput(
                f"{self._name}: self would have to stand in the payload. Decorate a function, or give the bound method "
                "to app.handle."
            )
        for name, parameter in self._signature.parameters.items():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise InvalidInput(
                    f"{self._name}: parameter {parameter} cannot stand in a payload by name. "
                    "Use ordinary parameters, or one dataclass."
                )
            hint = hints.get(name, Any)
            required = parameter.default is parameter.empty
            fields[name] = hint if required else NotRequired[hint]
        self._codec: Codec[dict[str, Any]] = Codec(_TYPED_DICT(function.__name__, fields))

    def encode(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """JSON text of the call's arguments.

        Raises:
            PayloadNotEncodable: the arguments do not fit the function, or would not come back as they go in.
        """
        try:
            arguments = self._signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise PayloadNotEncodable(f"{self._name}{self._signature}: {self._misfit(kwargs, error)}") from error
        text, back = self._codec.trip(arguments)
        for name, argument in arguments.items():
            check_same(back[name], argument, f"{self._name}: argument {name}")
        return text

    def decode(self, text: str) -> dict[str, Any]:
        """The keyword arguments that the payload names.

        Raises:
            PayloadUndecodable: the text does not fit.
        """
        return self._codec.decode(text)

    def check(self, text: str) -> None:
        """Returns if `text`, which somebody wrote by hand, names parameters of the function alone, and whole.

        Raises:
            PayloadUndecodable: it does not fit.
            PayloadNotEncodable: it has a field, or one given twice, that would be lost in silence.
        """
        self._codec.check(text)

    def _misfit(self, kwargs: dict[str, Any], error: TypeError) -> str:
        """An unknown name before a missing argument, which is often the same one, misspelt."""
        known = self._signature.parameters
        unknown = next((name for name in kwargs if name not in known), None)
        if unknown is None:
            return f"{error}."
        near = get_close_matches(unknown, known, n=1)
        return f"got an unexpected keyword argument {unknown!r}." + (f" Did you mean {near[0]}?" if near else "")

    def _hints(self, function: Callable[..., Any]) -> dict[str, Any]:
        try:
            return typing.get_type_hints(function, include_extras=True)
        except (NameError, TypeError) as error:
            raise InvalidInput(
                f"{self._name}: its hints cannot be resolved ({error}). "
                "Import the classes of its parameters at run time, not under TYPE_CHECKING."
            ) from error
