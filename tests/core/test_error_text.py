"""Failures as text that every store can keep."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from klokka.core.error_text import MESSAGE_BYTES, TRACEBACK_BYTES, TYPE_BYTES, describe, storable
from klokka.core.records import JobError
from klokka.errors import InvalidTime, NotRetryable


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def test_an_ordinary_error_stays_as_it_is() -> None:
    error = JobError(type="ValueError", message="größer als “7”", traceback="Traceback…\n", attempt=3)

    assert storable(error) == error


def test_nul_and_surrogates_are_replaced_in_every_text() -> None:
    error = storable(JobError(type="A\0", message="a\0b\ud800c\udfff", traceback="\udc80"))

    assert error == JobError(type="A\ufffd", message="a\ufffdb\ufffdc\ufffd", traceback="\ufffd")


@pytest.mark.parametrize("letter", ["z", "ä", "€", "😀"])
def test_long_texts_keep_head_and_tail_with_a_mark_and_fit_in_bytes(letter: str) -> None:
    text = "first" + letter * 100_000 + "last"

    error = storable(JobError(type=text, message=text, traceback=text))

    for kept, limit in ((error.type, TYPE_BYTES), (error.message, MESSAGE_BYTES), (error.traceback, TRACEBACK_BYTES)):
        assert kept.startswith("first")
        assert kept.endswith("last")
        assert limit - 80 < len(kept.encode()) <= limit
        cut = (
            len(text) - kept.count(letter, 0, kept.index("…")) - kept.count(letter, kept.rindex("…")) - len("firstlast")
        )
        assert f"… [{cut:,} characters cut] …" in kept


def test_a_text_of_exactly_the_limit_is_not_cut() -> None:
    text = "a" * MESSAGE_BYTES

    assert storable(JobError(type="E", message=text)).message == text
    assert "1 " not in storable(JobError(type="E", message=text)).message
    assert "characters cut" in storable(JobError(type="E", message=text + "a")).message


def test_storing_twice_changes_nothing_more() -> None:
    once = storable(JobError(type="E", message="\0" * 50_000, traceback="€" * 500_000))

    assert storable(once) == once


def test_a_time_is_kept_in_utc_and_a_naive_one_refused() -> None:
    there = timezone(timedelta(hours=2))

    error = storable(JobError(type="E", message="", at=datetime(2026, 1, 1, 12, tzinfo=there)))

    assert error.at is not None
    assert error.at.tzinfo is UTC
    assert error.at.hour == 10
    with pytest.raises(InvalidTime, match=r"error\.at"):
        storable(JobError(type="E", message="", at=datetime(2026, 1, 1)))  # noqa: DTZ001


def test_types_are_named_with_their_module_unless_built_in() -> None:
    assert describe(ValueError("no")).type == "ValueError"
    assert describe(NotRetryable("no")).type == "klokka.errors.NotRetryable"


def test_cause_notes_and_message_stand_in_the_traceback() -> None:
    outer = ValueError("outer")
    outer.__cause__ = KeyError("inner")
    outer.add_note("a note")

    error = describe(raised(outer))

    assert error.message == "outer"
    for part in ("KeyError: 'inner'", "direct cause", "ValueError: outer", "a note", "in raised"):
        assert part in error.traceback
    assert error.attempt is None
    assert error.at is None


def test_the_members_of_a_group_stand_in_the_traceback() -> None:
    error = describe(raised(ExceptionGroup("both", [ValueError("one"), TypeError("two")])))

    assert error.type == "ExceptionGroup"
    assert "ValueError: one" in error.traceback
    assert "TypeError: two" in error.traceback


def test_an_exception_whose_str_raises_is_still_described() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    error = describe(raised(Mute()))

    assert error.type.endswith("Mute")
    assert error.message == "[no message: str() of it raised RuntimeError]"
    assert "Traceback" in error.traceback


def test_a_message_of_megabytes_is_bounded_everywhere() -> None:
    error = describe(raised(ValueError("x" * 10_000_000 + "end")))

    assert len(error.message.encode()) <= MESSAGE_BYTES
    assert len(error.traceback.encode()) <= TRACEBACK_BYTES
    assert error.message.endswith("end")
    assert error.traceback.startswith("Traceback")


def test_a_long_chain_is_bounded_and_keeps_both_ends() -> None:
    error: BaseException | None = None
    for number in range(3_000):
        link = ValueError(f"link {number} " + "y" * 500)
        link.__cause__ = error
        error = raised(link)
    assert error is not None

    described = describe(error)

    assert len(described.traceback.encode()) <= TRACEBACK_BYTES
    assert "link 0 " in described.traceback
    assert "link 2999 " in described.traceback
    assert "characters cut" in described.traceback


def test_a_deep_recursion_is_described() -> None:
    def down() -> None:
        down()

    try:
        down()
    except RecursionError as caught:
        error = describe(caught)

    assert error.type == "RecursionError"
    assert "in down" in error.traceback
