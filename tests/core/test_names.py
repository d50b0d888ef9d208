"""What a name may be, and what is said of one that may not."""

import pytest

from klokka.core.names import check_bytes, check_key, check_kind, check_text
from klokka.errors import InvalidInput, InvalidName, LimitExceeded


@pytest.mark.parametrize("kind", ["a", "email.welcome", "x-1_2.3", "9", "a" * 128])
def test_a_right_kind_comes_back(kind: str) -> None:
    assert check_kind(kind) == kind


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("", "kind is empty"),
        ("a" * 129, "129 characters"),
        ("Email", "'E' at position 1.*for example 'email'"),
        ("e mail", "' ' at position 2"),
        ("é", "'é' at position 1"),
        ("a\n", r"'\\n' at position 2"),
        ("../x", "'/' at position 3"),
    ],
)
def test_a_wrong_kind_is_refused_with_what_and_where(kind: str, said: str) -> None:
    with pytest.raises(InvalidName, match=said):
        check_kind(kind)


def test_keys_count_bytes_and_not_characters() -> None:
    assert check_key("key", "é" * 256) == "é" * 256

    with pytest.raises(LimitExceeded, match="514 bytes; the limit is 512"):
        check_key("key", "é" * 257)


def test_an_empty_key_is_refused_since_no_key_is_none() -> None:
    with pytest.raises(InvalidName, match="Leave it out"):
        check_key("unique_key", "")


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_text_that_no_store_could_give_back_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"payload has a .* at position 2"):
        check_text("payload", text)


def test_a_text_at_its_limit_passes_and_one_byte_more_does_not() -> None:
    assert check_bytes("payload", "x" * 100, 100)

    with pytest.raises(LimitExceeded, match="101 bytes; the limit is 100"):
        check_bytes("payload", "x" * 101, 100)
