"""When: cron, calendars and elapsed time as pure values; instants in, instants out."""

from klokka.schedules.calendars import (
    Calendar,
    daily,
    last_business_day,
    last_day,
    last_weekday,
    monthly,
    nth_business_day,
    nth_weekday,
    weekly,
    yearly,
)
from klokka.schedules.counting import Count, count_ticks
from klokka.schedules.cron import Cron, cron
from klokka.schedules.day_rules import (
    LAST_BUSINESS_DAY,
    LAST_DAY,
    DayOfMonth,
    LastBusinessDay,
    LastWeekday,
    NthBusinessDay,
    NthWeekday,
)
from klokka.schedules.fingerprint import fingerprint
from klokka.schedules.holidays import HolidayCalendar, Holidays
from klokka.schedules.interval import Interval, every
from klokka.schedules.misfire import CatchUp, Decision, FireOnce, MisfirePolicy, Skip, decide
from klokka.schedules.preview import Fire, preview
from klokka.schedules.schedule import Schedule
from klokka.schedules.weekdays import FRI, MON, SAT, SUN, THU, TUE, WED, Weekday
from klokka.schedules.zones import load_zone, zone_names

__all__ = [
    "FRI",
    "LAST_BUSINESS_DAY",
    "LAST_DAY",
    "MON",
    "SAT",
    "SUN",
    "THU",
    "TUE",
    "WED",
    "Calendar",
    "CatchUp",
    "Count",
    "Cron",
    "DayOfMonth",
    "Decision",
    "Fire",
    "FireOnce",
    "HolidayCalendar",
    "Holidays",
    "Interval",
    "LastBusinessDay",
    "LastWeekday",
    "MisfirePolicy",
    "NthBusinessDay",
    "NthWeekday",
    "Schedule",
    "Skip",
    "Weekday",
    "count_ticks",
    "cron",
    "daily",
    "decide",
    "every",
    "fingerprint",
    "last_business_day",
    "last_day",
    "last_weekday",
    "load_zone",
    "monthly",
    "nth_business_day",
    "nth_weekday",
    "preview",
    "weekly",
    "yearly",
    "zone_names",
]
