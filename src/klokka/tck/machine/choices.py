"""What a step is drawn from: few names and round times, so that things meet."""

from datetime import timedelta
from typing import Final

from hypothesis import strategies as st

from klokka.core.ids import ScheduleId, WorkerId
from klokka.core.records import NewJob

QUEUES: Final = ("a", "b")
KINDS: Final = ("k", "l")
KEYS: Final = ("key1", "key2")
WORKERS: Final = (WorkerId("w1"), WorkerId("w2"))
SCHEDULES: Final = (ScheduleId("s1"), ScheduleId("s2"))
LEASES: Final = ("lease1", "lease2")

WAITS: Final = tuple(timedelta(seconds=seconds) for seconds in (0, 1, 60, 3600))

number = st.integers(0, 7)
"""An index into whatever there is, taken modulo."""
handle = st.integers(0, 2)
queue = st.sampled_from(QUEUES)
kind = st.sampled_from(KINDS)
key = st.sampled_from(KEYS)
worker = st.sampled_from(WORKERS)
schedule = st.sampled_from(SCHEDULES)
lease_name = st.sampled_from(LEASES)
limit = st.integers(0, 4)
wait = st.sampled_from(WAITS)
lease = st.sampled_from([timedelta(seconds=seconds) for seconds in (1, 60, 3600)])
queues = st.sampled_from([["a", "b"], ["b", "a"], ["a"], ["b", "b"], ["a", "b", "a"], []])
kinds = st.sampled_from([{"k", "l"}, {"k"}, {"l"}, {"k", "l", "kk"}, set[str]()])
caps = st.sampled_from([{}, {"a": 1}, {"a": 0, "b": 2}, {"b": 1}])


def jobs(most: int = 3, *, least: int = 1) -> st.SearchStrategy[list[NewJob]]:
    """Requests, some with a key, some for later."""
    return st.lists(
        st.builds(
            NewJob,
            kind=kind,
            payload=st.just("{}"),
            queue=queue,
            run_at=st.sampled_from([None, None, *WAITS]),
            unique_key=st.none() | key,
        ),
        min_size=least,
        max_size=most,
    )
