"""A check: a plain function that cites the clauses which it proves, and what it needs for that."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal

from klokka.tck.bench import Bench
from klokka.tck.violations import Violation

Hand = Literal[
    "advance",
    "transaction",
    "savepoint",
    "sync_transaction",
    "sync_savepoint",
    "unusable",
    "sync_unusable",
    "lock",
    "cut",
    "hostile",
    "reopen",
    "server_clock",
]
"""An optional part of a `Subject`."""

Layer = Literal["example", "machine", "history", "process", "cancellation"]
"""How a check looks for what is broken: by an example or a crowd of callers; by random steps against a model; by a
recorded history of concurrent callers; by processes that are killed and stopped; by verbs cancelled at their awaits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One behaviour, named by a sentence."""

    name: str
    group: str
    clauses: tuple[str, ...]
    needs: tuple[type[object], ...]
    given: tuple[Hand, ...]
    prove: Callable[[Bench], Awaitable[None]]
    layer: Layer = "example"

    @property
    def id(self) -> str:
        """Its name in reports and on command lines."""
        return f"{self.group}.{self.name}"

    @property
    def cited(self) -> str:
        """Its clauses as the contract writes them."""
        return " ".join(f"[{clause}]" for clause in self.clauses)

    def lacking(self, bench: Bench) -> str | None:
        """Why this subject cannot be asked, or None if it can."""
        for capability in self.needs:
            if not isinstance(bench.store, capability):
                return f"the store is no {capability.__name__}"
        for hand in self.given:
            if getattr(bench.subject, hand) is None:
                return f"the factory gives no `{hand}`"
        return None

    async def run(self, bench: Bench) -> None:
        """Returns if the store keeps the clauses.

        Raises:
            Violation: with what was seen and what was expected, and with these clauses where it names none itself.
        """
        try:
            await self.prove(bench)
        except Violation as violation:
            violation.clauses = violation.clauses or self.clauses
            raise


CHECKS: Final[dict[str, Check]] = {}
"""Every check that was imported, by id."""


def check(
    *clauses: str,
    needs: type[object] | tuple[type[object], ...] = (),
    given: Hand | tuple[Hand, ...] = (),
    layer: Layer = "example",
) -> Callable[[Callable[[Bench], Awaitable[None]]], Check]:
    """Registers a check of `clauses`, for stores with the capabilities `needs` and factories that give `given`."""

    def register(prove: Callable[[Bench], Awaitable[None]]) -> Check:
        made = Check(
            name=prove.__name__,
            group=prove.__module__.rpartition(".")[2],
            clauses=clauses,
            needs=needs if isinstance(needs, tuple) else (needs,),
            given=(given,) if isinstance(given, str) else given,
            prove=prove,
            layer=layer,
        )
        if made.id in CHECKS:
            raise ValueError(f"two checks are named {made.id}.")
        CHECKS[made.id] = made
        return made

    return register
