"""A cron expression in plain words: "weekdays at 09:00", "every 15 minutes from 09:00 to 17:45 on Mondays"."""

from typing import Final

from klokka.schedules.cron_fields import CronField, CronFields
from klokka.schedules.phrases import MONTHS, clock, listing, runs, spans

_LISTED: Final = 6
"""Up to so many times of day are named one by one."""
_WEEKDAYS: Final = ("Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays")
_GROUPS: Final[dict[tuple[int, ...], str]] = {(1, 2, 3, 4, 5): "weekdays", (0, 6): "weekends"}


def words(fields: CronFields) -> str:
    """The whole expression, without a zone."""
    days = _days(fields)
    if clocks := _clocks(fields):
        return f"{days or 'every day'} at {clocks}"
    times = _times(fields)
    if not days:
        return times
    return f"{days} {times}" if times.startswith("at ") else f"{times} on {days}"


def _days(fields: CronFields) -> str:
    """The dates as a plural noun; empty for every day of the year."""
    any_day, any_weekday, any_month = (
        len(field.values) == most for field, most in ((fields.day, 31), (fields.weekday, 7), (fields.month, 12))
    )
    within = "" if any_month else f" in {spans(fields.month.values, MONTHS)}"
    weekdays = _GROUPS.get(fields.weekday.values) or listing(_WEEKDAYS[n] for n in fields.weekday.values)
    numbers = fields.day.values
    of = "each month" if any_month else spans(fields.month.values, MONTHS)
    dates = f"{'day' if len(numbers) == 1 else 'days'} {spans(numbers)} of {of}"
    if fields.both_days:
        if any_day:
            return ("all days" + within if within else "") if any_weekday else weekdays + within
        return dates if any_weekday else f"{weekdays} that fall on {dates}"
    if any_day or any_weekday:
        return "all days" + within if within else ""
    return f"{dates} and all {weekdays}{within}"


def _clocks(fields: CronFields) -> str:
    """The times of day one by one; empty where they are too many."""
    hours, minutes, seconds = fields.hour.values, fields.minute.values, fields.second.values
    if len(hours) * len(minutes) * len(seconds) > _LISTED:
        return ""
    return listing(clock(h * 3600 + m * 60 + s) for h in hours for m in minutes for s in seconds)


def _times(fields: CronFields) -> str:
    hours, minutes, seconds = fields.hour.values, fields.minute.values, fields.second.values
    if seconds != (0,):
        of = "" if len(minutes) == 60 else f" of minute {spans(minutes)}"
        return _often(fields.second, "second") + of + _hours(fields)
    if minutes != (0,):
        return _often(fields.minute, "minute") + _hours(fields)
    if step := _step(hours, 24):
        return f"every {step} hours" if step > 1 else "every hour"
    return f"every hour{_hours(fields)}"


def _often(field: CronField, unit: str) -> str:
    if step := _step(field.values, 60):
        return f"every {step} {unit}s" if step > 1 else f"every {unit}"
    plural = "s" if len(field.values) > 1 else ""
    return f"at {unit}{plural} {spans(field.values)} of every {'minute' if unit == 'second' else 'hour'}"


def _step(values: tuple[int, ...], size: int) -> int | None:
    """The even step with which `values` go round a clock face of `size`, if they do."""
    step = size // len(values)
    return step if values == tuple(range(0, size, step)) and size % step == 0 else None


def _hours(fields: CronFields) -> str:
    hours = fields.hour.values
    if len(hours) == 24:
        return ""
    if len(runs(hours)) > 1:
        return f" in the hours {spans(hours)}"
    first = hours[0] * 3600 + fields.minute.values[0] * 60 + fields.second.values[0]
    last = hours[-1] * 3600 + fields.minute.values[-1] * 60 + fields.second.values[-1]
    return f" from {clock(first)} to {clock(last)}"
