"""Which rights each duty needs, and which of them a role has. docs/postgres.md grants these and no others."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from klokka.stores.postgres.link import Link
from klokka.stores.postgres.schema import Schema

_READ: Final = ("select",)
_CHANGE: Final = ("select", "insert", "update")
_ALL: Final = ("select", "insert", "update", "delete")

_ENQUEUE: Final[Mapping[str, Sequence[str]]] = {"migrations": _READ, "jobs": ("select", "insert")}
_WORK: Final[Mapping[str, Sequence[str]]] = {
    "migrations": _READ,
    "jobs": _ALL,
    "schedules": _CHANGE,
    "workers": _ALL,
    "paused_queues": _READ,
    "idempotency_keys": _ALL,
    "leases": _CHANGE,
    "cursors": _CHANGE,
}

DUTIES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "enqueue": _ENQUEUE,
    "work": _WORK,
    "operate": {**_WORK, "paused_queues": _ALL},
}
"""For each duty the rights on tables; all need `usage` on the schema and on the sequence of ids too."""


async def duties_of(link: Link, schema: Schema) -> list[str]:
    """The duties that the connected role may do, and `migrate` if it may."""
    needed = [
        {"duty": duty, "relation": relation, "privilege": privilege}
        for duty, relations in DUTIES.items()
        for relation, privileges in relations.items()
        for privilege in privileges
    ]
    rows = await link.run(schema.sql("rights"), (schema.name, json.dumps(needed)))
    allowed = {duty for (duty,) in rows}
    return [duty for duty in (*DUTIES, "migrate") if duty in allowed]
