"""What holds for every test."""

import signal


def pytest_configure() -> None:
    """A run that a shell started in the background ignores SIGINT, and so would every process that a test starts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
