"""Children that score the demo's own made-up files without starting Python each time.

A season's history takes some thirty runs of the scoring child, and most of what one costs is its start. So one process
loads what they need and splits off a child for each: the same code, in its own folder. Nothing is boxed, since nothing
here comes from strangers; whatever is handed in later is scored in a box like everywhere (X-8).
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final

from basanite.errors import SettingError
from basanite.sandbox.box import Box, Ended
from basanite.sandbox.child import ONE_THREAD, ORDER, PYTHON

LOADED: Final = ("basanite.campaign.jobs.child", "basanite.tasks.clir", "basanite.tasks.retrieval.detection_charts")
ALSO: Final[Mapping[str, str]] = {
    "captions": "nltk.stem.snowball",
    "readability": "scipy.stats",
    "reading": "scipy.stats",
    "relevance": "scipy.stats",
}
"""What is loaded once a task asks for it: it takes longer to load than to use."""
SAID, WRONG = "said", "wrong"


class Warm:
    """Some processes that wait with everything loaded; each does one thing at a time, the last one used first."""

    def __init__(self, several: list[subprocess.Popen[str]]) -> None:
        self.free: queue.LifoQueue[subprocess.Popen[str]] = queue.LifoQueue()
        for one in several:
            self.free.put(one)

    def __call__(self, box: Box, *, environment: Mapping[str, str] | None = None) -> Ended:
        """Run the program of a box in its folder, as `run_boxed` does in a box."""
        one, start = self.free.get(), time.monotonic()
        try:
            code = _send_order(one, {"module": box.command[-1], "folder": str(box.given.parent.resolve())})
        finally:
            self.free.put(one)
        folder = box.given.parent
        said = [(folder / name).read_bytes() for name in (SAID, WRONG)]
        return Ended(code, stdout=said[0], stderr=said[1], seconds=time.monotonic() - start)


def _send_order(one: subprocess.Popen[str], order: Mapping[str, str]) -> int:
    if one.stdin is None or one.stdout is None:
        raise LookupError("this process was started without pipes")
    one.stdin.write(json.dumps(order) + "\n")
    one.stdin.flush()
    answer = one.stdout.readline()
    if not answer:
        raise SettingError("A scoring process of the demo ended unexpectedly. See what it needs: basanite doctor")
    return int(answer)


@contextmanager
def warm(several: int) -> Iterator[Warm]:
    """As many of these processes; they end with the block."""
    command = (PYTHON, "-I", "-m", "basanite.demo.warm")
    around = {**os.environ, **ONE_THREAD}
    started = [_start_process(command, around) for _ in range(several)]
    try:
        yield Warm(started)
    finally:
        for one in started:
            _end(one)


def _start_process(command: Sequence[str], around: Mapping[str, str]) -> subprocess.Popen[str]:
    """A process in a group of its own: Ctrl-C is for the demo, whose end is also theirs."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=around, stdin=pipe, stdout=pipe, text=True, start_new_session=True)


def _end(one: subprocess.Popen[str]) -> None:
    """End a process at once, with the child that it may have: what is not done now is not wanted any more."""
    os.killpg(one.pid, signal.SIGKILL)
    one.communicate()


def main() -> None:
    """Load what children need, then split off one for each line that comes."""
    for name in LOADED:
        import_module(name)
    for line in sys.stdin:
        order = json.loads(line)
        folder = Path(order["folder"])
        _prepare(order["module"], folder)
        child = os.fork()
        if child == 0:
            _be(order["module"], folder)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _prepare(module: str, folder: Path) -> None:
    """Load what an order needs besides, for this child and all that come after it."""
    import_module(module)
    task = json.loads((folder / "in" / ORDER).read_bytes()).get("task", "")
    if task in ALSO:
        import_module(ALSO[task])


def _be(module: str, folder: Path) -> None:
    """Be the child: its folder, its outputs, its end."""
    code = 1
    try:
        os.chdir(folder)
        tempfile.tempdir = str(folder)  # as in a box: what the child leaves there goes with its folder
        for name, number in ((SAID, 1), (WRONG, 2)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        code = import_module(module).main()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
