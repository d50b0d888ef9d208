"""What a worker may be told."""

from datetime import timedelta

import pytest

from klokka.errors import InvalidTime
from klokka.runtime.settings import WorkerSettings
from klokka.spi.wakeups import LONGEST_SLEEP


def test_an_idle_worker_may_sleep_for_as_long_as_stores_give_hints_ahead() -> None:
    assert WorkerSettings(poll=LONGEST_SLEEP).poll == LONGEST_SLEEP


def test_a_longer_sleep_is_refused() -> None:
    with pytest.raises(InvalidTime, match=r"poll must be 1 m or less, not 1 h: stores give no hint"):
        WorkerSettings(poll=timedelta(hours=1))
