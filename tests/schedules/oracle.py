"""A slow evaluator of the rule for clock changes, written apart from the code: every instant of a window is looked at.

T(wild) is every u with local(u) in M. T(fixed) is, for every l in M, the earliest u with local(u) = l, or the first u
whose wall time has jumped over l.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

Matches = Callable[[datetime], bool]
_NAMES = {
    **{
        name: n
        for n, name in enumerate(
            ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"], 1
        )
    },
    **{name: n for n, name in enumerate(["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"])},
}
_RANGES = ((0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def matcher(expression: str) -> tuple[Matches, bool]:
    """Membership in M of a five- or six-field expression, and whether it is wild."""
    fields = expression.upper().split()
    wild = any(field.startswith("*") for field in fields[: len(fields) - 3])
    if len(fields) == 5:
        fields.insert(0, "0")
    second, minute, hour, day, month, weekday = (_values(f, *r) for f, r in zip(fields, _RANGES, strict=True))
    weekday = {value % 7 for value in weekday}
    both = fields[3].startswith("*") or fields[5].startswith("*")

    def matches(label: datetime) -> bool:
        if label.second not in second or label.minute not in minute or label.hour not in hour:
            return False
        if label.month not in month:
            return False
        days = (label.day in day, label.isoweekday() % 7 in weekday)
        return all(days) if both else any(days)

    return matches, wild


def ticks(
    matches: Matches,
    zone: ZoneInfo,
    low: datetime,
    high: datetime,
    *,
    wild: bool,
    step: timedelta = timedelta(minutes=1),
) -> list[datetime]:
    """The ticks in (low, high]. `step` must divide every offset, every transition and every matching time near there."""
    seen: set[datetime] = set()
    found: set[datetime] = set()
    margin = timedelta(hours=26)
    previous: datetime | None = None
    for instant in _instants(low - margin, high, step):
        label = instant.astimezone(zone).replace(tzinfo=None, fold=0)
        if wild:
            if matches(label):
                found.add(instant)
        else:
            if previous is not None:
                skipped = previous + step
                while skipped < label:
                    if skipped not in seen and matches(skipped):
                        found.add(instant)
                    skipped += step
            if label not in seen and matches(label):
                found.add(instant)
            seen.add(label)
            previous = label
    return sorted(instant for instant in found if low < instant <= high)


def transitions(zone: ZoneInfo, first_year: int, last_year: int) -> list[datetime]:
    """The instants at which the offset changes; in the database they are days apart."""
    found: list[datetime] = []
    stride = timedelta(hours=12)
    instant = datetime(first_year, 1, 1, tzinfo=UTC)
    offset = instant.astimezone(zone).utcoffset()
    while instant.year < last_year:
        after = instant + stride
        if (changed := after.astimezone(zone).utcoffset()) != offset:
            low, high = instant, after
            while high - low > timedelta(seconds=1):
                middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
                low, high = (middle, high) if middle.astimezone(zone).utcoffset() == offset else (low, middle)
            found.append(high)
            offset = changed
        instant = after
    return found


def _instants(low: datetime, high: datetime, step: timedelta) -> Iterator[datetime]:
    number = -((datetime(1970, 1, 1, tzinfo=UTC) - low) // step)
    instant = datetime(1970, 1, 1, tzinfo=UTC) + number * step
    while instant <= high:
        yield instant
        instant += step


def _values(field: str, low: int, high: int) -> set[int]:
    values: set[int] = set()
    for term in field.split(","):
        span, _, step = term.partition("/")
        first, _, last = span.partition("-")
        start = low if first == "*" else _number(first)
        end = high if first == "*" else _number(last or first)
        values.update(range(start, end + 1, int(step or "1")))
    return values


def _number(word: str) -> int:
    return _NAMES[word] if word in _NAMES else int(word)
