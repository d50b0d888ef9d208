"""Text from elsewhere made safe to look at: a terminal must show it and never obey it."""


def shown(text: str) -> str:
    r"""`text` on one line, with all that does not print as itself written out, such as `\n`, `\x1b` or `\u202e`.

    Control characters, escape sequences, line separators and marks that turn the direction of writing are spelled,
    so no text can move the cursor, change colours or pretend to be another.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown_lines(text: str) -> str:
    """`text` with its own line breaks and tabs and nothing else that does not print."""
    return "\n".join(shown(line.expandtabs(4)) for line in text.split("\n"))
