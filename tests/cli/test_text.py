import pytest

from klokka.cli.text import shown, shown_lines


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("two\nlines", r"two\nlines"),
        ("back\r", r"back\r"),
        ("\x9b2J", r"\x9b2J"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\u2028", r"\u2028"),
        ("\udc80", r"\udc80"),
        ("[bold]rich[/bold]", "[bold]rich[/bold]"),
        ("Größe 日本 😀", "Größe 日本 😀"),
    ],
)
def test_what_does_not_print_as_itself_is_spelled(hostile: str, harmless: str) -> None:
    assert shown(hostile) == harmless


def test_lines_keep_their_breaks_alone() -> None:
    assert shown_lines("a\n\tb\x1b[2J\r\n") == "a\n    b\\x1b[2J\\r\n"
