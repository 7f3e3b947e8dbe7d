"""Commands in processes forked from one that has imported everything: a new interpreter takes seconds to get there.

Each command still has a process, a folder, an environment and outputs of its own, and ends with it. Who runs this
file is a client (`warm.py SOCKET basanite WORD…`), so that a shell can call it; `running.forked` is
another. What only a new interpreter shows (an import that is missing) is the golden commands' to prove.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from contextlib import suppress

CHUNK = 1 << 16


def ask(
    door: str,
    words: list[str],
    cwd: str,
    environment: dict[str, str],
    files: tuple[int, int, int],
    *,
    limit: float | None = None,
) -> int:
    """Have a command run with three open files as its input, output and errors; gives its exit code."""
    request = json.dumps({"words": words, "cwd": cwd, "environment": environment}).encode() + b"\n"
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(limit)
        line.connect(door)
        socket.send_fds(line, [request[:1]], files)
        line.sendall(request[1:])
        answer = line.recv(CHUNK)
    return int(answer or b"-9")


def serve(door: str) -> None:
    """Fork a process for each command that is asked for, until the one who started this has gone."""
    import gc
    import select

    _load_everything()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(door)
        listening.listen()
        os.write(1, b"ready\n")
        while sys.stdin.fileno() not in select.select([listening, sys.stdin.fileno()], [], [])[0]:
            with listening.accept()[0] as line:
                if os.fork() == 0:
                    listening.close()
                    _attend(line)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _load_everything() -> None:
    """All commands and what they load when they are called; not polars, whose threads no fork survives."""
    from importlib import import_module

    import click

    from basanite.cli import app

    for name in app.list_commands(context := click.Context(app)):
        app.get_command(context, name)
    for name in LOADED:
        import_module(name)
    assert "polars" not in sys.modules


def _attend(line: socket.socket) -> None:
    """Start what a client asks for, tell how it ended, and end it if the client goes away before that."""
    import select

    first, files, *_ = socket.recv_fds(line, 1, 3)
    request = json.loads(first + line.makefile("rb").readline())
    process = os.fork()
    if process == 0:
        line.close()
        _become(request, files)
    ended = os.pidfd_open(process)
    if ended not in select.select([ended, line], [], [])[0]:
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with suppress(OSError):
        line.sendall(str(code).encode())
    os._exit(0)


def _become(request: dict, files: list[int]) -> None:
    """Be the installed command with these words, here and with this environment, to the end of the interpreter."""
    from basanite.cli import main

    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    named = request["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.argv, sys.path[:1] = request["words"], [request["cwd"], *filter(None, named)]
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    code: object = 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    _leave(code if isinstance(code, int) else 1)


def _leave(code: int) -> None:
    """End as an interpreter does, but do not take apart what was loaded before: it would all be copied for that."""
    import atexit
    import threading

    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code & 255)


LOADED = (
    "basanite.work.annotation.config",
    "basanite.campaign.duties",
    "basanite.campaign.actions.references",
    "basanite.campaign.people.teams",
    "basanite.campaign.store.schema",
    "basanite.harness.results",
    "basanite.reading.gold",
    "basanite.reading.package",
    "basanite.reading.reasoner",
    "basanite.reading.rules",
    "basanite.receipts.signatures",
    "jinja2",
    "pyoxigraph",
    "rich.progress",
    "rich.table",
    "scipy.stats",
    "sqlite3",
)
"""What most commands load only when they are called."""

if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(ask(sys.argv[1], sys.argv[2:], os.getcwd(), dict(os.environ), (0, 1, 2)))  # noqa: PTH109
