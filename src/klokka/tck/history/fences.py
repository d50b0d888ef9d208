"""Fences that were given out and that nobody heard: halves, so that they equal none that is known."""

from typing import Any


def unheard(fence: float) -> Any:
    """The least that may have been given after `fence`, as a bound that every known higher one exceeds."""
    return fence + (0.5 if is_known(fence) else 1.0)


def is_known(fence: float) -> bool:
    """Whether it is a fence that somebody was told."""
    return fence == int(fence)
