"""Stores that break one clause each, to prove that the kit sees it."""

from tests.tck.saboteurs import (
    capabilities,
    claims,
    edits,
    enqueues,
    faults_of_capabilities,
    faults_of_claiming,
    faults_of_enqueueing,
    faults_of_settling,
    liberties,
    lives,
    look_backs,
    races,
    resemblances,
    roundings,
    schedules,
    slips,
    transitions,
)
from tests.tck.saboteurs.registry import SABOTEURS

__all__ = [
    "SABOTEURS",
    "capabilities",
    "claims",
    "edits",
    "enqueues",
    "faults_of_capabilities",
    "faults_of_claiming",
    "faults_of_enqueueing",
    "faults_of_settling",
    "liberties",
    "lives",
    "look_backs",
    "races",
    "resemblances",
    "roundings",
    "schedules",
    "slips",
    "transitions",
]
