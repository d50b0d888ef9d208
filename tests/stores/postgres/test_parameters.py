"""What is sent as text means to the server what it meant here."""

from datetime import timedelta

import pytest

from klokka.core.instants import FIRST, LAST
from klokka.stores.postgres.parameters import span
from tests.support.postgres import connection

MICROSECOND = timedelta(microseconds=1)
LONGEST = LAST - FIRST


@pytest.mark.parametrize(
    "length",
    [
        timedelta(),
        MICROSECOND,
        timedelta(seconds=59, microseconds=999_999),
        timedelta(minutes=59, seconds=60) - MICROSECOND,
        timedelta(hours=36),
        timedelta(seconds=2**31) + MICROSECOND,
        LONGEST,
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_length_of_time_arrives_to_the_microsecond(where: str, length: timedelta, sign: int) -> None:
    with connection(where) as session:
        assert session.execute("select %s::text::interval", [span(sign * length)]).fetchone() == (sign * length,)
