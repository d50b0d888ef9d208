"""Statements out of files, so that SQL is read and reviewed as SQL."""

from importlib.resources import files


def statement(package: str, name: str) -> str:
    """The one statement in `sql/<name>.sql` of a store's package, without its comments and its semicolon.

    Comments are for readers: sent along they would cost a hash and a parse at every call.
    """
    text = files(package).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("--")).removesuffix(";")
