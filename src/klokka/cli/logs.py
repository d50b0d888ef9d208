"""What a worker says on stderr: one readable line for each thing worth telling."""

import logging
import sys
import time

from klokka.cli.text import shown, shown_lines
from klokka.core.names import clip

LEVELS = ("debug", "info", "warning", "error")

_LONGEST = 2000


class LineFormatter(logging.Formatter):
    """`2024-03-10 07:00:00.123Z INFO klokka.worker: message`, in UTC.

    What a record says is shown and never obeyed by a terminal; a traceback keeps its lines.
    """

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802
        return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z"

    def format(self, record: logging.LogRecord) -> str:
        line = f"{self.formatTime(record)} {record.levelname:<7} {record.name}: "
        line += clip(shown(record.getMessage()), _LONGEST)
        if record.exc_info:
            line += "\n" + shown_lines(self.formatException(record.exc_info))
        if record.stack_info:
            line += "\n" + shown_lines(record.stack_info)
        return line


def log_to_stderr(level: str) -> None:
    """Sends what Klokka and the user's modules log to stderr, unless their app has set up logging by itself."""
    root = logging.getLogger()
    if root.handlers:
        logging.getLogger("klokka").setLevel(level.upper())
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter())
    root.addHandler(handler)
    root.setLevel(level.upper())
