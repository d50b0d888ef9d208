"""The strict grammar of cron expressions: what is not surely meant is refused, with field, position and a hint.

    field = term("," term)*      term = "*" | "*/" n | v | v "-" v | v "-" v "/" n

`v` is ASCII digits or a three-letter name of its own field, in any case. Work is bounded by the length of the text.
"""

import re
from typing import Final

from klokka.core.names import clip
from klokka.errors import InvalidSchedule
from klokka.schedules.cron_fields import KINDS, WEEKDAY, CronField, CronFields, FieldKind
from klokka.schedules.cron_hints import lone_step_hint, reversed_hint, shape_hint, step_hint, words_hint

LONGEST: Final = 1000
MOST_TERMS: Final = 60

_TERM: Final = re.compile(r"(\*|[0-9]+|[A-Z]{3})(?:-([0-9]+|[A-Z]{3}))?(?:/([0-9]+))?")
_STRAY: Final = re.compile(r"[^!-~ \t]")
_WORD: Final = re.compile(r"[^ \t]+")
_NO_SECONDS: Final = CronField(values=(0,), star=False)


def parse(expression: str, *, seconds: bool) -> CronFields:
    """The fields of a five-field expression, or of one with six, seconds first.

    Raises:
        InvalidSchedule: naming the field, the position in the text and a hint.
    """
    if len(expression) > LONGEST:
        raise refusal(
            expression, None, f"it has {len(expression):,} characters, the limit is {LONGEST:,}", "Shorten it."
        )
    if stray := _STRAY.search(expression):
        what = f"{stray.group()!a} is not ASCII text, a blank or a tab"
        raise refusal(expression, stray.start(), what, "Separate fields by blanks.")
    words = list(_WORD.finditer(expression))
    kinds = KINDS if seconds else KINDS[1:]
    if len(words) != len(kinds):
        what = f"it has {len(words)} fields and not {len(kinds)}"
        raise refusal(expression, None, what, words_hint([word.group() for word in words], seconds=seconds))
    fields = [
        _Reader(expression, word.start(), kind).field(word.group()) for word, kind in zip(words, kinds, strict=True)
    ]
    second, minute, hour, day, month, weekday = fields if seconds else [_NO_SECONDS, *fields]
    return CronFields(second=second, minute=minute, hour=hour, day=day, month=month, weekday=weekday)


def refusal(expression: str, at: int | None, what: str, hint: str, kind: FieldKind | None = None) -> InvalidSchedule:
    """The error for one finding; `at` counts from 0 and is shown from 1."""
    where = "" if kind is None else f", {kind.name}"
    where += "" if at is None else f", position {at + 1}"
    return InvalidSchedule(f"cron {clip(expression)!r}{where}: {what}. {hint}")


class _Reader:
    """Reads one field of an expression; `start` is where the field stands in it."""

    def __init__(self, expression: str, start: int, kind: FieldKind) -> None:
        self._expression = expression
        self._start = start
        self._kind = kind

    def field(self, text: str) -> CronField:
        terms = text.upper().split(",")
        if len(terms) > MOST_TERMS:
            raise self._refusal(
                0, f"it has {len(terms)} terms, the limit is {MOST_TERMS}", "Write ranges, such as 0-9."
            )
        values: set[int] = set()
        at = 0
        for term in terms:
            values |= self._term(term, at)
            at += len(term) + 1
        if self._kind is WEEKDAY:
            values = {value % 7 for value in values}
        return CronField(values=tuple(sorted(values)), star=text.startswith("*"))

    def _term(self, term: str, at: int) -> set[int]:
        match = _TERM.fullmatch(term)
        if match is None:
            good = found.end() if (found := _TERM.match(term)) else 0
            raise self._refusal(at + good, *shape_hint(term, good, self._kind))
        base, end, step = match.groups()
        if base == "*":
            if end is not None:
                raise self._refusal(at, f"{clip(term, 20)!r} gives * an end", "Write both ends of a range as values.")
            first, last = self._kind.low, self._kind.low + self._kind.span
        else:
            first = self._value(base, at)
            last = first if end is None else self._value(end, at + match.start(2))
            if last < first:
                hint = reversed_hint(first, last, self._kind)
                raise self._refusal(at, f"{clip(term, 20)!r} is a range that goes backwards", hint)
            if step is not None and end is None:
                hint = lone_step_hint(first, step, self._kind)
                raise self._refusal(at, f"{clip(term, 20)!r} has a step without a range", hint)
        if step is None:
            return set(range(first, last + 1))
        span = min(last - first, self._kind.span)
        size = int(step)
        if not 0 < size <= span:
            at += match.start(3)
            raise self._refusal(at, *step_hint(term, size, first, span))
        return set(range(first, last + 1, size))

    def _value(self, word: str, at: int) -> int:
        if (value := self._kind.value(word)) is None:
            kind = self._kind
            if word.isdigit():
                raise self._refusal(at, f"{clip(word, 20)} is not in {kind.low} to {kind.high}", "Correct the number.")
            raise self._refusal(at, *shape_hint(word, 0, kind))
        return value

    def _refusal(self, at: int, what: str, hint: str) -> InvalidSchedule:
        return refusal(self._expression, self._start + at, what, hint, self._kind)
