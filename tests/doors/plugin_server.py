"""A server in a Python that has a plug-in of the documentation: a task is sent by API and by drop folder."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

from tests.doors import all_tasks
from tests.doors.examples import BY_TASK, Example

from basanite.sandbox.runner import run_open
from basanite.server.telemetry import start_logging


def main(folder: Path, plugin: str, *words: str) -> None:
    """Print by task what became of its submission, and what the same file is scored at home.

    The words are a task, a submission and a reference, and as often as there are tasks.

    Without a box: this Python borrows most packages from another one, which a box would not let it read.
    """
    BY_TASK.clear()
    for task, submission, reference in zip(words[::3], words[1::3], words[2::3], strict=True):
        BY_TASK[task] = Example(submission, reference, folder=str(folder))
    start_logging(io.StringIO())
    with all_tasks.serving(folder, run=run_open, plugins=(plugin,)) as server:
        for task, example in BY_TASK.items():
            all_tasks.send_in_one_piece(server, task, folder / example.submission)
            all_tasks.send_by_drop_folder(server, task, folder / example.submission)
        found = server.finished(2 * len(BY_TASK))
    told = {}
    for task, example in BY_TASK.items():
        ended = {door: one for (of, door), one in found.items() if of == task}
        told[task] = {
            "home": all_tasks.here("score", task, *example.home(task)).data["values"],
            "server": {
                door: [one["state"], (one["result"] or {}).get("data", {}).get("values")] for door, one in ended.items()
            },
        }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
