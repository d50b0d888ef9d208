"""The days of the week as values."""

from enum import IntEnum
from typing import Final


class Weekday(IntEnum):
    """Monday is 1 and Sunday 7, as in ISO 8601."""

    MON = 1
    TUE = 2
    WED = 3
    THU = 4
    FRI = 5
    SAT = 6
    SUN = 7

    @property
    def english(self) -> str:
        return _ENGLISH[self - 1]


_ENGLISH: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

MON: Final = Weekday.MON
TUE: Final = Weekday.TUE
WED: Final = Weekday.WED
THU: Final = Weekday.THU
FRI: Final = Weekday.FRI
SAT: Final = Weekday.SAT
SUN: Final = Weekday.SUN
