"""Stores that break one clause each, to prove that the kit sees it."""

from tests.tck.saboteurs import capabilities, claims, enqueues, lives, schedules, transitions
from tests.tck.saboteurs.registry import SABOTEURS

__all__ = ["SABOTEURS", "capabilities", "claims", "enqueues", "lives", "schedules", "transitions"]
