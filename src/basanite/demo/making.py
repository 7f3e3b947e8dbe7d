"""Parts of the demo that take longer, made beside the server.

One part after the other, and each in a fresh process: whatever goes wrong there is told on the tour, and the server
does not notice. What is ready is not made again; a part that was interrupted goes on where it can.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from basanite.campaign.jobs.running import ONE_THREAD, PYTHON
from basanite.server import demo_parts as parts
from basanite.server.demo_parts import Progress

COMMAND: Final = (PYTHON, "-I", "-m", "basanite.demo.part")
LONGEST_REASON: Final = 500
LONGEST_TAIL: Final = 10_000
GONE: Final = "its process was stopped"
UNSAID: Final = "it ended without a result"


@contextmanager
def beside(data: Path, command: tuple[str, ...] = COMMAND) -> Iterator[None]:
    """Make whatever is not ready while the block runs; what is under way when it ends is gone on with next time."""
    maker = Maker(data, command)
    thread = threading.Thread(target=maker.work, name="basanite-demo-parts", daemon=True)
    thread.start()
    try:
        yield
    finally:
        maker.stop()
        thread.join()


class Maker:
    """Makes parts one by one until told to stop."""

    def __init__(self, data: Path, command: tuple[str, ...]) -> None:
        self.data, self.command = data, command
        self.stopped = False
        self.child: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()

    def work(self) -> None:
        """All parts that are not ready, those that failed before included."""
        for one in parts.progress(self.data):
            if one.state != "ready" and not self.stopped:
                self._make(one.key)

    def stop(self) -> None:
        """End the part that is being made."""
        with self.lock:
            self.stopped = True
            if self.child is not None:
                self.child.kill()

    def _make(self, key: str) -> None:
        parts.write(self.data, Progress(key, "working"))
        with tempfile.TemporaryFile() as wrong:
            code = self._ran(key, wrong)
            wrong.seek(max(0, wrong.tell() - LONGEST_TAIL))
            told = wrong.read()
        if {one.key: one.state for one in parts.progress(self.data)}[key] == "ready":
            return
        reason = reason_of(told) if code else UNSAID
        parts.write(self.data, Progress(key) if self.stopped else Progress(key, "failed", reason=reason))

    def _ran(self, key: str, wrong: IO[bytes]) -> int:
        """Run the process; its input is a pipe that closes when this one ends, however it ends."""
        with self.lock:
            if self.stopped:
                return 0
            command, around = (*self.command, key, str(self.data)), {**os.environ, **ONE_THREAD}
            self.child = subprocess.Popen(
                command,
                env=around,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=wrong,
                start_new_session=True,  # Ctrl-C is for the server, which then ends this one
            )
        with self.child:  # closes the pipe in the end
            return self.child.wait()


def reason_of(wrong: bytes) -> str:
    """Why a process failed: the last line that it wrote.

    >>> reason_of(b"Traceback ...\\nOSError: no space left\\n"), reason_of(b"")
    ('OSError: no space left', 'its process was stopped')
    """
    lines = wrong.decode(errors="replace").strip().splitlines()
    return lines[-1][:LONGEST_REASON] if lines else GONE
