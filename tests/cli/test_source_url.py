import pytest

from klokka.cli.source import Source


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:se/c@r?et@host/db", "postgresql://me:***@host/db"),
        ("postgresql://db?user=me&password=secret&ssl=on", "postgresql://db?user=me&password=***&ssl=on"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("sqlite:///a:b@c.db", "sqlite:///a:b@c.db"),
        ("memory:", "memory:"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, safe: str) -> None:
    assert Source(store_url=url, app=None).spelled == safe
