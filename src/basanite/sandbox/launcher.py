"""The process that closes a box around a program: namespaces, a root of its own, limits, and a watch over it.

Three processes: the launcher stays outside and takes over the results; its child is process 1 of the box, which watches
time and memory; its grandchild gives up every power and becomes the program. When process 1 ends, the kernel ends all
that is left in the box. Stdlib only, for it is started with `python -I -S`, and all of it is imported at the top: once
the box is closed there may be no library to import from.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from basanite.sandbox import collection, kernel
from basanite.sandbox.box import INODES

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
SETTINGS: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime")
DEVICES: Final = ("null", "full", "random", "urandom")
"""Not /dev/zero: mapped by several processes it is memory that no count of processes and files shows."""
INSIDE: Final = 1000
FIRST_UNUSED: Final = 1_500_000_000
"""Root's boxes take user numbers from here on, one each: anyone who counts processes by user counts this box alone."""
TICK: Final = 0.02
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
WATCHED: Final = Path("/proc/self")
ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LC_ALL": "C.UTF-8"}
NEW: Final = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def main(given: int, report: int) -> None:
    """Run what the JSON in the file that is open as `given` says; how it ended is written to the one of `report`.

    Nothing is told in arguments, for these can be seen from inside the box.
    """
    os.set_inheritable(report, False)
    with open(given, "rb") as file:
        spec = json.loads(file.read())
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        told = Launch(spec).run()
    except OSError as error:
        told = {"code": 1, "cause": "start", "fault": str(error)}
    os.write(report, json.dumps(told).encode())


class Launch:
    """One box from its walls to its results."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.spec, self.limits = spec, spec["limits"]
        self.stage = Path(spec["stage"])
        self.root, self.scratch = self.stage / "root", self.stage / "scratch"
        self.user = FIRST_UNUSED + os.getpid() if spec["mode"] == "root" else INSIDE
        self.left: dict[str, int] = {}
        """Descriptors of the folders that the program writes, opened before it starts."""

    def run(self) -> dict[str, Any]:
        """Close the box, run the program, and take over what it wrote."""
        self._leave()
        self._build()
        told = self._run_watched()
        told["refused"] = [] if told["code"] or told["cause"] else self._collect_results()
        return told

    def _leave(self) -> None:
        """Leave the host's namespaces; where we are not root, as the only user of a new user namespace."""
        outside, group = os.geteuid(), os.getegid()
        kernel.unshare(NEW if self.spec["mode"] == "root" else NEW | kernel.CLONE_NEWUSER)
        if self.spec["mode"] == "user":
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{INSIDE} {outside} 1")
            Path("/proc/self/gid_map").write_text(f"{INSIDE} {group} 1")
        kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)

    def _build(self) -> None:
        """The root of the box: system folders read-only, the program's own folders, and nothing else of the host."""
        guarded = kernel.MS_NOSUID | kernel.MS_NODEV
        for place, size in ((self.root, 2**20), (self.scratch, self.limits["output"])):
            place.mkdir()
            kernel.mount("tmpfs", str(place), "tmpfs", guarded, f"size={size},nr_inodes={INODES},mode=755")
        self._build_work()
        for source in (*SYSTEM, *SETTINGS, *self.spec["reads"]):
            self._bind(source, source)
        self._show(self.spec["system"], "/system")
        self._build_rest()
        for mounted in self._read_only_places():
            kernel.mount_read_only(mounted)
        for name in DEVICES:
            self._bind(f"/dev/{name}", f"/dev/{name}")

    def _build_work(self) -> None:
        """Folders that can be written, as large together as the limit on output; the call's own folder cannot be."""
        for name in ("out", "state", "tmp"):
            place = self.scratch / name
            place.mkdir()
            os.chown(place, self.user, self.user)
            self.left[name] = collection.open_folder(place)
        self._bind(str(self.scratch / "tmp"), "/tmp")
        self._bind(str(self.scratch / "out"), "/call/out")
        self._show(self.spec["given"], "/call/in")
        if self.spec["learns"]:
            self._bind(str(self.scratch / "state"), "/call/state")
        else:
            self._show(self.spec["state"], "/call/state")

    def _build_rest(self) -> None:
        (self.root / "proc").mkdir()
        (self.root / "dev").mkdir()
        (self.root / "etc").mkdir(exist_ok=True)
        (self.root / "etc/passwd").write_text(f"system:x:{self.user}:{self.user}::/tmp:/bin/sh\n")
        (self.root / "etc/group").write_text(f"system:x:{self.user}:\n")

    def _show(self, source: str, inside: str) -> None:
        """Show a folder of the host under another name, so that not even the table of mounts tells where it is.

        That table names a bound folder by its place; of a layer it tells how it was named, which is by a descriptor.
        Where no layer can be made (older kernels, layers upon layers) the folder is bound.
        """
        target, empty = self.root / inside.lstrip("/"), self.root / "empty"
        target.mkdir(parents=True, exist_ok=True)
        empty.mkdir(exist_ok=True)
        layers = [os.open(place, os.O_RDONLY | os.O_DIRECTORY) for place in (source, empty)]
        named = ":".join(f"/proc/self/fd/{layer}" for layer in layers)
        as_user = ",userxattr" if self.spec["mode"] == "user" else ""
        try:
            kernel.mount("files", str(target), "overlay", kernel.MS_RDONLY, f"lowerdir={named}{as_user}")
        except OSError:
            self._bind(source, inside)
        finally:
            for layer in layers:
                os.close(layer)

    def _bind(self, source: str, inside: str) -> None:
        """Show a file or folder of the host in the box; a link is made again, what is not there is left out."""
        path, target = Path(source), self.root / inside.lstrip("/")
        if path.is_symlink() and inside == source:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path.readlink())
        elif path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            kernel.mount(source, str(target), "", kernel.MS_BIND | kernel.MS_REC)
        elif path.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
            kernel.mount(source, str(target), "", kernel.MS_BIND)

    def _read_only_places(self) -> Iterator[str]:
        """Every place below the root of the box that belongs to the host and must not be written."""
        free = {str(self.root), *(str(self.root / name) for name in ("call/out", "tmp"))}
        free |= {str(self.root / "call/state")} if self.spec["learns"] else set()
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            place = line.split()[4].encode().decode("unicode_escape")
            if place.startswith(f"{self.root}/") and place not in free:
                yield place

    def _run_watched(self) -> dict[str, Any]:
        """Process 1 of the box in a child of ours; gives what it tells when all is over."""
        reading, writing = os.pipe()
        first = os.fork()
        if first == 0:
            os.close(reading)
            _run_or_exit(lambda: self._first(writing), writing)
        os.close(writing)
        told = b""
        while part := os.read(reading, 65536):
            told += part
        os.waitpid(first, 0)
        return json.loads(told) if told else {"code": 137, "cause": "start", "fault": "the sandbox was killed"}

    def _first(self, writing: int) -> None:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        kernel.unshare(kernel.CLONE_NEWNS)
        with suppress(OSError):  # inside some containers /proc cannot be mounted again; the box then has none
            guarded = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
            kernel.mount("proc", str(self.root / "proc"), "proc", guarded)
        kernel.pivot_root(str(self.root))
        kernel.mount_read_only("/")
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        start = time.monotonic()
        program = os.fork()
        if program == 0:
            os.close(writing)
            _run_or_exit(self._become, None)
        told = Watch(program, self.limits).wait()
        os.write(writing, json.dumps({**told, "seconds": time.monotonic() - start}).encode())
        os._exit(0)  # and with process 1 the kernel ends all that is left in the box

    def _become(self) -> None:
        """Give up all power and become the program."""
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        limit(self.limits, self.spec["processors"])
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
        if self.spec["mode"] == "root":
            kernel.drop_capabilities()
            os.setgroups([])
            os.setresgid(self.user, self.user, self.user)
            os.setresuid(self.user, self.user, self.user)
        else:
            kernel.drop_capabilities()
        os.chdir("/call")
        os.umask(0o022)
        kernel.close_filter(pinned=bool(self.spec["processors"]))
        execute(self.spec)

    def _collect_results(self) -> list[str]:
        """Copy results, and the state if it was learned, to the host; gives what was not taken."""
        room = collection.Room(self.limits["output"], INODES, self.limits["depth"])
        refused = collection.collect(self.left["out"], Path(self.spec["out"]), room)
        if self.spec["learns"]:
            refused += collection.collect(self.left["state"], Path(self.spec["state"]), room)
        return refused


def execute(spec: Mapping[str, Any]) -> None:
    """Become the program; with no command, try the walls and end well only if they hold."""
    if not spec["command"]:
        os._exit(0 if walls_hold(spec["unseen"]) else 1)
    words = spec["command"]
    place = f"/system/{words[0]}" if "/" in words[0] and not words[0].startswith("/") else words[0]
    try:
        os.execvpe(place, [place, *words[1:]], {**ENVIRONMENT, **spec.get("environment", {})})
    except OSError as error:
        sys.stderr.write(f"{words[0]} cannot be started: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127)


def walls_hold(unseen: str) -> bool:
    """Whether, from inside, a folder of the host is gone, no socket opens, and nothing outside can be written."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(("127.0.0.1", 9))
        connected = True
    except OSError:
        connected = False
    return not (connected or Path(unseen).exists() or os.access("/usr", os.W_OK) or os.geteuid() == 0)


def limit(limits: Mapping[str, Any], chosen: Sequence[int]) -> None:
    """The limits that the kernel holds for each process by itself, and the processors that it was given."""
    if chosen:
        os.sched_setaffinity(0, chosen)
    processors = len(chosen) or os.cpu_count() or 1
    for kind, most in (
        (resource.RLIMIT_CPU, int(limits["seconds"] * processors) + 1),
        # much is reserved and never used, and what is used is watched; but not where there is no /proc to look into
        (resource.RLIMIT_AS, (4 if WATCHED.exists() else 1) * limits["memory"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, limits["output"]),
        (resource.RLIMIT_NOFILE, limits["files"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


class Watch:
    """Process 1 at work: waits for the program, and ends the box when time or memory is used up."""

    def __init__(self, program: int, limits: Mapping[str, Any]) -> None:
        self.program, self.limits = program, limits
        self.end, self.peak = time.monotonic() + limits["seconds"], 0

    def wait(self) -> dict[str, Any]:
        """How it ended."""
        while True:
            signal.sigtimedwait([signal.SIGCHLD], TICK)
            code = self._reap()
            if code is not None:
                return {"code": code, "cause": "", "peak": self.peak}
            cause = self._over()
            if cause:
                with suppress(OSError):
                    os.kill(-1, signal.SIGKILL)
                return {"code": 137, "cause": cause, "peak": self.peak}

    def _reap(self) -> int | None:
        """Take note of every process that has ended, and of the most that the kernel saw it use.

        Gives the program's exit code if it is among them.
        """
        with suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return None
                self.peak = max(self.peak, usage.ru_maxrss * 1024)
                if pid == self.program:
                    return os.waitstatus_to_exitcode(status)
        return None

    def _over(self) -> str:
        processes = [place for place in Path("/proc").iterdir() if place.name.isdigit() and place.name != "1"]
        memory = own_memory(processes) + written_memory()
        self.peak = max(self.peak, memory)
        if memory > self.limits["memory"]:
            return "memory"
        if (
            len(processes) > self.limits["processes"]
        ):  # the kernel holds this limit too, but not for root in a user namespace
            return "processes"
        return "time" if time.monotonic() > self.end else ""


def own_memory(processes: Iterable[Path]) -> int:
    """Bytes that processes have in use and that stand in no file."""
    pages = 0
    for place in processes:
        with suppress(OSError, IndexError, ValueError):
            _, resident, of_files = (place / "statm").read_text().split()[:3]
            pages += int(resident) - int(of_files)
    return pages * PAGE


def written_memory() -> int:
    """Bytes of the files that were written in the box, deleted ones that are still open too: they lie in memory."""
    about = os.statvfs("/tmp")
    return (about.f_blocks - about.f_bfree) * about.f_frsize


def _run_or_exit(work: Any, writing: int | None) -> None:
    """Do a child's work; whatever goes wrong is reported and ends the child, never runs on as the parent."""
    try:
        work()
    except BaseException as error:  # noqa: BLE001 (a forked child must never run on as its parent)
        if writing is not None:
            os.write(writing, json.dumps({"code": 1, "cause": "start", "fault": str(error)}).encode())
        else:
            sys.stderr.write(f"the program could not be started: {error}\n")
            sys.stderr.flush()
    os._exit(125)
