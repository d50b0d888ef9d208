"""Which store breaks which clause."""

from collections.abc import Callable

from klokka.stores.memory.store import MemoryStore

SABOTEURS: list[tuple[str, type[MemoryStore]]] = []


def breaks(clause: str) -> Callable[[type[MemoryStore]], type[MemoryStore]]:
    """Registers a saboteur of a clause."""

    def register(saboteur: type[MemoryStore]) -> type[MemoryStore]:
        SABOTEURS.append((clause, saboteur))
        return saboteur

    return register
