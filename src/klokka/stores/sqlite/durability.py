"""What a commit outlives, by name."""

import enum
from typing import Final

from klokka.spi.life import Survives


class Durability(enum.Enum):
    """How far a commit is pushed before a verb returns [life.durable]."""

    MACHINE = "machine"
    """Written through to the disk: it outlives the death of the process and of the machine."""

    PROCESS = "process"
    """Handed to the operating system: it outlives the process. A power cut may undo the last commits, whole ones."""


SYNCHRONOUS: Final = {Durability.MACHINE: "full", Durability.PROCESS: "normal"}
SURVIVES: Final = {Durability.MACHINE: Survives.MACHINE, Durability.PROCESS: Survives.PROCESS}
