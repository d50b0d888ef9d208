"""The sending half of wakeups: rung by whoever commits claimable work."""

import socket

from klokka.stores.sqlite.meeting_place import MeetingPlace


class Bell:
    """Tells every listener, in this process and in others, that work may be ready [wakeups.commit]."""

    def __init__(self, path: str) -> None:
        self._place = MeetingPlace(path)
        self._sender: socket.socket | None = None

    def ring(self, last_id: int) -> None:
        """Sends a hint to all; to be called after the commit."""
        if self._sender is None:
            self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._sender.setblocking(False)
        self._place.send(self._sender, b"%d" % last_id)

    def close(self) -> None:
        """Releases the socket."""
        self._place.close()
        if self._sender is not None:
            self._sender.close()
            self._sender = None
