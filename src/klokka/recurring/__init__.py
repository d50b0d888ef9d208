"""Cron and enqueue-once for any queue; for a Klokka store's own schedules see `Klokka.recurring`."""

from klokka.recurring.leased_ticker import LeasedTicker
from klokka.recurring.once import enqueue_once
from klokka.recurring.ports import AtomicQueue, Queue, Request
from klokka.recurring.store_queue import StoreQueue
from klokka.recurring.success_watch import Stale, StoreHistory, SuccessHistory, SuccessWatch

__all__ = [
    "AtomicQueue",
    "LeasedTicker",
    "Queue",
    "Request",
    "Stale",
    "StoreHistory",
    "StoreQueue",
    "SuccessHistory",
    "SuccessWatch",
    "enqueue_once",
]
