"""The schedules of an app: what it defines, and what people do with them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from klokka.app import schedule_verbs
from klokka.app.blocking import BlockingSide
from klokka.app.capability import capable
from klokka.app.connection import Connection
from klokka.app.producer import Producer
from klokka.app.schedule_verbs import Resumed, ScheduleState
from klokka.core.ids import ScheduleId
from klokka.core.instants import EPOCH
from klokka.core.names import shown
from klokka.core.records import EnqueueResult
from klokka.errors import InvalidInput
from klokka.runtime.bus import EventBus
from klokka.spi.query import QueryableStore

if TYPE_CHECKING:  # see `recurring`
    from klokka.runtime.recurrence import Recurrence


class Schedules(Mapping[ScheduleId, "Recurrence"]):
    """The definitions by id, and the verbs for people, each with a twin for sync code.

    Pausing, resuming and looking work on whatever the store knows, triggering on what this app defines.
    """

    def __init__(self, connection: Connection, blocking: BlockingSide, producer: Producer, bus: EventBus) -> None:
        self._connection = connection
        self._blocking = blocking
        self._producer = producer
        self._bus = bus
        self._defined: dict[ScheduleId, Recurrence] = {}

    def __getitem__(self, id: ScheduleId) -> "Recurrence":
        return self._defined[id]

    def __iter__(self) -> Iterator[ScheduleId]:
        return iter(self._defined)

    def __len__(self) -> int:
        return len(self._defined)

    def define(self, recurrence: "Recurrence") -> None:
        """Adds a schedule; `Klokka.recurring` is the way to it.

        Raises:
            InvalidInput: the id is taken, or the store takes no such job, or lacks what the schedule needs.
        """
        if recurrence.id in self._defined:
            raise InvalidInput(f"schedule {recurrence.id!r} is defined already. An id names one schedule.")
        store = self._connection.origin
        if not recurrence.overlap:
            capable(store, QueryableStore, f"schedule {recurrence.id!r} with overlap=False")
        store.traits.limits.admit([recurrence.run(EPOCH)])
        self._defined[recurrence.id] = recurrence

    async def trigger_now(self, id: str) -> EnqueueResult:
        """Runs the schedule's job at once; its own fires are not moved by that.

        Where runs may not overlap, a live one is the answer, with `created` false.

        Raises:
            InvalidInput: the app defines no such schedule.
        """
        return (await self._producer.enqueue([self._known(id).extra()], None))[0]

    async def pause(self, id: str, reason: str) -> None:
        """Stops it from firing, on every node, until it is resumed; a changed definition does not end that.

        Raises:
            InvalidInput: the store does not know it.
        """
        await schedule_verbs.pause(await self._connection.opened(), ScheduleId(id), reason)

    async def resume(self, id: str, *, catch_up: bool = False) -> bool:
        """Ends a pause, and says whether there was one.

        What was missed meanwhile is skipped and told as `Misfired`; with `catch_up` the misfire policy decides on it.

        Raises:
            InvalidInput: the store does not know it, or ticks are to be skipped and the app does not define it.
        """
        store, name = await self._connection.opened(), ScheduleId(id)
        return self._told(await schedule_verbs.resume(store, name, self._defined.get(name), catch_up=catch_up))

    async def states(self) -> list[ScheduleState]:
        """Every schedule that the store knows, by id, with its next and last fire and whether a live worker has it."""
        return await schedule_verbs.states(await self._connection.opened())

    def trigger_now_sync(self, id: str) -> EnqueueResult:
        """`trigger_now` from sync code."""
        return self._producer.enqueue_sync([self._known(id).extra()], None)[0]

    def pause_sync(self, id: str, reason: str) -> None:
        """`pause` from sync code."""
        name = ScheduleId(id)
        self._blocking.call(lambda store: schedule_verbs.pause(store, name, reason), "app.schedules.pause(…)")

    def resume_sync(self, id: str, *, catch_up: bool = False) -> bool:
        """`resume` from sync code."""
        name = ScheduleId(id)
        known = self._defined.get(name)
        return self._told(
            self._blocking.call(
                lambda store: schedule_verbs.resume(store, name, known, catch_up=catch_up),
                "app.schedules.resume(…)",
            )
        )

    def states_sync(self) -> list[ScheduleState]:
        """`states` from sync code."""
        return self._blocking.call(schedule_verbs.states, "app.schedules.states(…)")

    def _known(self, id: str) -> "Recurrence":
        found = self._defined.get(ScheduleId(id))
        if found is None:
            raise InvalidInput(
                f"schedule {shown(id)} is not defined by this app. It defines: {', '.join(sorted(self)) or 'none'}."
            )
        return found

    def _told(self, resumed: Resumed | None) -> bool:
        from klokka.core.events import Misfired

        if resumed is not None and resumed.skipped is not None and self._bus.wants(Misfired):
            self._bus.tell(
                Misfired(
                    schedule=resumed.row.id,
                    kind=resumed.row.kind,
                    missed=resumed.skipped.number,
                    at_least=not resumed.skipped.exact,
                )
            )
        return resumed is not None
