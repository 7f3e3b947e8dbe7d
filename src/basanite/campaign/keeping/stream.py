"""The inside of a backup: lines of JSON, and after a line that announces a file its bytes. Read forward only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from basanite.campaign.sealing import SealedError

LONGEST_LINE = 256 * 2**20
PIECE = 2**20


def note(**values: Any) -> bytes:
    """One line that says what follows."""
    return json.dumps(values, sort_keys=True, separators=(",", ":")).encode() + b"\n"


class Reader:
    """Reads lines and exact lengths from pieces of bytes as they come."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._waiting = pieces, bytearray()

    def line(self) -> bytes:
        """The next line, without its end."""
        searched = 0
        while (end := self._waiting.find(b"\n", searched)) < 0:
            searched = len(self._waiting)
            if searched > LONGEST_LINE:
                raise SealedError("The backup holds a line without end.")
            self._more()
        return self._take(end + 1)[:-1]

    def note(self) -> dict[str, Any]:
        """The next line, as what `note` wrote."""
        found: dict[str, Any] = json.loads(self.line())
        return found

    def content(self, size: int) -> Iterator[bytes]:
        """The next so many bytes, in pieces."""
        while size:
            if not self._waiting:
                self._more()
            piece = self._take(min(size, len(self._waiting), PIECE))
            size -= len(piece)
            yield piece

    def up_to(self, size: int) -> bytes:
        """The next so many bytes, fewer only at the end."""
        while len(self._waiting) < size and (piece := next(self._pieces, None)) is not None:
            self._waiting += piece
        return self._take(size)

    def finish(self) -> None:
        """Read to the end, so that the last piece's seal is checked too."""
        if self._waiting or any(True for piece in self._pieces if piece):
            raise SealedError("The backup goes on after its end.")

    def _more(self) -> None:
        piece = next(self._pieces, None)
        if piece is None:
            raise SealedError("The backup ends too early. Use another copy.")
        self._waiting += piece

    def _take(self, size: int) -> bytes:
        taken = bytes(self._waiting[:size])
        del self._waiting[:size]
        return taken
