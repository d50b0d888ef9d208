"""Saying once what is wrong with a schedule, and nothing more until that changes."""

import logging

from klokka.core.ids import ScheduleId

logger = logging.getLogger("klokka.ticker")


class Complaints:
    """A schedule's troubles as they stand, so that what fails every second fills no log."""

    def __init__(self) -> None:
        self._standing: dict[ScheduleId, str] = {}

    def failed(self, id: ScheduleId, doing: str, error: BaseException) -> None:
        """Logs `error` with its traceback, unless it is the trouble that was logged last."""
        trouble = f"{doing}: {type(error).__name__}: {error}"
        if self._standing.get(id) != trouble:
            self._standing[id] = trouble
            logger.error("schedule %s fails at %s; the others go on", id, doing, exc_info=error)

    def over(self, id: ScheduleId) -> None:
        """It works."""
        if self._standing.pop(id, None) is not None:
            logger.warning("schedule %s works again", id)
