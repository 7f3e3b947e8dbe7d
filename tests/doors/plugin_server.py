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


def main(folder: Path, plugin: str, task: str, submission: str, reference: str) -> None:
    """Print what became of each submission, and what the same file is scored at home.

    Without a box: this Python borrows most packages from another one, which a box would not let it read.
    """
    BY_TASK.clear()
    BY_TASK[task] = Example(submission, reference, folder=str(folder))
    path = folder / submission
    start_logging(io.StringIO())
    with all_tasks.serving(folder, run=run_open, plugins=(plugin,)) as server:
        all_tasks.send_in_one_piece(server, task, path)
        all_tasks.send_by_drop_folder(server, task, path)
        found = server.finished(2)
    home = all_tasks.here("score", task, *BY_TASK[task].home(task)).data["values"]
    ended = {
        door: [one["state"], (one["result"] or {}).get("data", {}).get("values")] for (_, door), one in found.items()
    }
    sys.stdout.write(json.dumps({"home": home, "server": ended}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
