"""A corpus of hostile programs, each run in a sandbox on its own; prints a line of JSON for each: was it contained?

It is a script, so that an ordinary user can run it as well as root: `python -m tests.threats.hostile_programs FOLDER`.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.sandbox.box import MIB, Box, Ended, Limits
from basanite.sandbox.runner import capability, run_boxed

SECRET: Final = "the-key-of-the-evaluation"
LIMITS: Final = Limits(seconds=15, memory=256 * MIB, output=2048 * MIB, log=4096, processes=16, files=64)
MARKER: Final = "basanite-hostile-survivor"


@dataclass(frozen=True)
class Trial:
    """One run: how the program ended, and the folders of the host that it was about."""

    ended: Ended
    root: Path

    def kept(self) -> str:
        """Everything that came back from the sandbox."""
        left = [path for name in ("out", "state") for path in sorted((self.root / name).rglob("*")) if path.is_file()]
        return "".join(path.read_text("utf-8", "replace") for path in left)


@dataclass(frozen=True)
class Program:
    """What a hostile program does, and how one sees that it had no success."""

    name: str
    code: str
    contained: Callable[[Trial], bool]
    learns: bool = False


def without_secret(trial: Trial) -> bool:
    """The secret came back neither in files nor in what was printed."""
    return SECRET not in trial.kept() and SECRET.encode() not in trial.ended.stdout


def without_hoard(trial: Trial) -> bool:
    """The program never said that it held more than its memory, and something refused or stopped it."""
    return b"held" not in trial.ended.stdout and not trial.ended.good


def survivors(_: Trial) -> bool:
    """No process of the program is left on the machine."""
    time.sleep(0.2)
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                found.append((place / "cmdline").read_bytes())
            except OSError:
                continue
    return not any(MARKER.encode() in line and b"hostile_programs" not in line for line in found)


PROGRAMS: Final = (
    Program(
        "a link in the place of the results",
        "try:\n    os.rename('out', 'old')\nexcept OSError:\n    os.rmdir('out')\nos.symlink(HOST, 'out')",
        without_secret,
    ),
    Program(
        "a link in the place of the state",
        "try:\n    os.rename('state', 'old')\nexcept OSError:\n    os.rmdir('state')\nos.symlink(HOST, 'state')",
        without_secret,
        learns=True,
    ),
    Program(
        "links below the results",
        "os.mkdir('out/a'); os.symlink(HOST, 'out/a/b'); os.symlink(HOST + '/secret', 'out/file')\n"
        "os.symlink('/proc/self/root' + HOST, 'out/c')",
        without_secret,
    ),
    Program(
        "a folder and a link that change places",
        """
        os.symlink(HOST, 'out/link'); os.mkdir('out/folder')
        if os.fork() == 0:
            while True:
                os.rename('out/folder', 'out/x'); os.rename('out/link', 'out/folder')
                os.rename('out/folder', 'out/link'); os.rename('out/x', 'out/folder')
        time.sleep(0.3)
        """,
        without_secret,
    ),
    Program(
        "a forged report in every descriptor",
        """
        for number in range(3, 1024):
            try:
                os.lseek(number, 0, 0)
            except OSError:
                pass
            try:
                os.write(number, b'{"code": 0, "cause": "", "peak": 0}'); print("wrote", number)
            except OSError:
                pass
        os._exit(3)
        """,
        lambda trial: trial.ended.code == 3 and b"wrote" not in trial.ended.stdout,
    ),
    Program(
        "no JSON in every descriptor",
        """
        for number in range(3, 1024):
            try:
                os.write(number, b'not json'); print("wrote", number)
            except OSError:
                pass
        """,
        lambda trial: trial.ended.good and b"wrote" not in trial.ended.stdout,
    ),
    Program(
        "memory in a memfd",
        "one = os.memfd_create('m')\nfor _ in range(768): os.write(one, bytes(2**20))\nprint('held'); time.sleep(3)",
        without_hoard,
    ),
    Program(
        "memory in a SysV segment",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True); libc.shmat.restype = ctypes.c_void_p
        one = libc.shmget(0, 768 * 2**20, 0o1600)
        if one < 0: raise OSError(ctypes.get_errno(), 'shmget')
        at = libc.shmat(one, None, 0); ctypes.memset(at, 1, 768 * 2**20); libc.shmdt(ctypes.c_void_p(at))
        print('held'); time.sleep(3)
        """,
        without_hoard,
    ),
    Program(
        "memory in messages",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.msgget(0, 0o1600) < 0: raise OSError(ctypes.get_errno(), 'msgget')
        print('held')
        """,
        without_hoard,
    ),
    Program(
        "memory in temporary files",
        "one = open('/tmp/x', 'wb')\nfor _ in range(1024): one.write(bytes(2**20))\nprint('held'); time.sleep(3)",
        without_hoard,
    ),
    Program(
        "memory in a deleted file",
        "one = open('out/x', 'wb'); os.unlink('out/x')\nfor _ in range(1024): one.write(bytes(2**20))\n"
        "print('held'); time.sleep(3)",
        without_hoard,
    ),
    Program(
        "shared memory that nobody looks at",
        """
        import mmap
        held = []
        for _ in range(12):
            one = mmap.mmap(-1, 64 * 2**20)
            for at in range(0, len(one), 4096): one[at] = 1
            one.madvise(mmap.MADV_DONTNEED); held.append(one)
        time.sleep(1); print('held')
        """,
        without_hoard,
    ),
    Program(
        "shared memory that is looked at in part",
        """
        import ctypes, mmap
        held = []
        for _ in range(12):
            one = mmap.mmap(-1, 64 * 2**20)
            for at in range(0, len(one), 4096): one[at] = 1
            view = ctypes.c_char.from_buffer(one)
            ctypes.CDLL(None).munmap(ctypes.c_void_p(ctypes.addressof(view) + 4096), 64 * 2**20 - 4096)
            held.append((one, view))
        print('held'); time.sleep(1); os._exit(0)
        """,
        without_hoard,
    ),
    Program(
        "shared memory of a device",
        "import mmap\none = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 768 * 2**20)\nprint('held')",
        without_hoard,
    ),
    Program(
        "memory of many processes",
        """
        for _ in range(8):
            if os.fork() == 0:
                x = b'1' * (60 * 2**20); time.sleep(9); os._exit(0)
        time.sleep(9); print('held')
        """,
        without_hoard,
    ),
    Program(
        "processes without end",
        """
        try:
            while True:
                if os.fork() == 0: time.sleep(30); os._exit(0)
        except OSError:
            print('refused')
        """,
        lambda trial: b"refused" in trial.ended.stdout or trial.ended.cause == "processes",
    ),
    Program(
        "a look through /proc and /sys",
        """
        import glob
        for place in ['/proc/1/environ', '/proc/1/cmdline', '/proc/1/fd/5', '/proc/1/root' + HOST + '/secret',
                      '/proc/kcore', '/proc/self/mountinfo', '/proc/self/mounts', '/proc/self/environ',
                      '/proc/self/cmdline', '/proc/sysvipc/shm', *glob.glob('/sys/**', recursive=True)[:50]]:
            try:
                print(open(place, 'rb').read(10**6).decode('utf-8', 'replace').replace('HOST', ''))
            except OSError:
                pass
        """,
        lambda trial: without_secret(trial) and str(trial.root) not in trial.ended.stdout.decode("utf-8", "replace"),
    ),
    Program(
        "signals to anyone who started it",
        """
        import signal
        for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
            for other in (1, os.getppid()):
                try: os.kill(other, number)
                except OSError: pass
        os._exit(4)
        """,
        lambda trial: trial.ended.code == 4,
    ),
    Program(
        "a process that outlives the call",
        f"""
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(60)', '{MARKER}'])
            os._exit(0)
        time.sleep(0.3)
        """,
        survivors,
    ),
    Program(
        "inputs in the log",
        "while True: os.write(1, open('in/item').read().encode() * 100)",
        lambda trial: trial.ended.cause == "log" and len(trial.ended.stdout) <= LIMITS.log,
    ),
    Program(
        "ten gigabytes of results",
        "one = open('out/x', 'wb')\nfor _ in range(10240): one.write(bytes(2**20))\nprint('held')",
        without_hoard,
    ),
    Program("silence without end", "time.sleep(60)", lambda trial: trial.ended.cause == "time"),
    Program(
        "a peak between two looks",
        "x = b'1' * (200 * 2**20); del x",
        lambda trial: trial.ended.good and trial.ended.peak >= 200 * MIB,
    ),
)


def run(program: Program, root: Path) -> dict[str, object]:
    """Run one program in a sandbox of its own."""
    folders = [root / name for name in ("system", "given", "out", "state")]
    for folder in folders:
        folder.mkdir(parents=True)
    (root / "given" / "item").write_text("sealed item\n")
    vault = root / "vault"
    vault.mkdir(mode=0o700)
    (vault / "secret").write_text(SECRET)
    (vault / "secret").chmod(0o600)
    code = f"import os, sys, time\nHOST = {str(vault)!r}\n" + textwrap.dedent(program.code)
    limits = LIMITS if program.name != "silence without end" else Limits(**{**vars(LIMITS), "seconds": 1.0})
    reads = (Path(sys.prefix), Path(sys.base_prefix))
    box = Box((sys.executable, "-I", "-S", "-c", code), *folders, program.learns, reads, limits)
    ended = run_boxed(box)
    trial = Trial(ended, root)
    how = ended.cause or f"exit {ended.code}"
    return {"program": program.name, "contained": program.contained(trial), "how": how, "peak": ended.peak // MIB,
            "mode": capability().mode, "stderr": ended.stderr.decode("utf-8", "replace")[-200:]}  # fmt: skip


def main(folder: Path) -> None:
    """Run the whole corpus."""
    for number, program in enumerate(PROGRAMS):
        print(json.dumps(run(program, folder / str(number))), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
