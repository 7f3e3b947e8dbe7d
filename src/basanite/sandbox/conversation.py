"""Talking to a program in a box: a line in, a line out, with a deadline each (G-5).

Whatever the program does meanwhile, nobody waits longer than the deadline: neither for a program that does not read,
nor for one that does not answer, nor for one that prints without end.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from basanite.errors import BasaniteError
from basanite.sandbox.box import Box, Cause, Ended
from basanite.sandbox.runner import GRACE, prepared_launch, required_mode

TALKATIVE: Final = 64
"""Who prints so many times more errors than are kept is stopped."""


class SilentError(BasaniteError):
    """A program gave no answer: it ended, it took too long, or its answer was too long."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(f"the program gave no answer ({cause or 'it ended'})")
        self.cause: Cause = cause


@dataclass
class Talk:
    """One program that answers line by line; `ended` tells how it went, once the conversation is over."""

    process: subprocess.Popen[bytes]
    most: int
    """Bytes of one answer."""
    log: int
    """Bytes of its standard error that are kept."""
    heard: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    ended: Ended = field(default_factory=lambda: Ended(0))
    stopped: Cause = ""
    """Why it was not waited for until it ended by itself."""
    _errors: int = 0
    _open: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            os.set_blocking(stream.fileno(), False)  # type: ignore[union-attr]
        self._open = {self._out, self._error}

    @property
    def _out(self) -> int:
        return self.process.stdout.fileno()  # type: ignore[union-attr]

    @property
    def _error(self) -> int:
        return self.process.stderr.fileno()  # type: ignore[union-attr]

    def ask(self, line: bytes, seconds: float) -> bytes:
        """The program's answer to a line, without its end; what it said before it was asked counts too."""
        try:
            return self._answer(memoryview(line.rstrip(b"\n") + b"\n"), time.monotonic() + seconds)
        except SilentError as error:
            self.stopped = error.cause
            raise

    def _answer(self, waiting: memoryview, end: float) -> bytes:
        while True:
            answer = self._line()
            if answer is not None:
                return answer
            if time.monotonic() > end:
                raise SilentError("time")
            waiting = self._exchange(waiting, end)

    def _line(self) -> bytes | None:
        """An answer that has come whole."""
        end = self.heard.find(b"\n")
        if (end if end >= 0 else len(self.heard)) > self.most:
            raise SilentError("log")
        if end < 0:
            if self._out not in self._open:
                raise SilentError("")
            return None
        answer = bytes(self.heard[:end])
        del self.heard[: end + 1]
        return answer

    def _exchange(self, waiting: memoryview, end: float) -> memoryview:
        """Write and read what can be written and read now; gives what is left to be written."""
        with selectors.DefaultSelector() as ready:
            for handle in self._open:
                ready.register(handle, selectors.EVENT_READ)
            if waiting:
                ready.register(self.process.stdin, selectors.EVENT_WRITE)  # type: ignore[arg-type]
            for key, event in ready.select(min(max(end - time.monotonic(), 0), 0.2)):
                if event & selectors.EVENT_WRITE:
                    waiting = self._write(waiting)
                else:
                    self._read(key.fd)
        return waiting

    def _write(self, waiting: memoryview) -> memoryview:
        try:
            return waiting[os.write(self.process.stdin.fileno(), waiting) :]  # type: ignore[union-attr]
        except BlockingIOError:
            return waiting
        except OSError:
            raise SilentError("") from None

    def _read(self, handle: int) -> None:
        piece = os.read(handle, 65536)
        if not piece:
            self._open.discard(handle)
        if handle == self._out:
            self.heard += piece
            return
        self._errors += len(piece)
        self.errors += piece[: max(self.log - len(self.errors), 0)]
        if self._errors > TALKATIVE * max(self.log, 1):
            raise SilentError("log")

    def close(self) -> None:
        """Say that no more questions come, and end the program and all that it started."""
        with suppress(OSError):
            self.process.stdin.close()  # type: ignore[union-attr]
        end = time.monotonic() + (0 if self.stopped else GRACE)
        with suppress(SilentError):
            while self._open and time.monotonic() < end:
                self._exchange(memoryview(b""), end)
                self.heard.clear()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()  # type: ignore[union-attr]
        try:
            self.process.wait(max(end - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            self.stopped = self.stopped or "time"
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)
            self.process.wait()


@contextmanager
def talk_boxed(box: Box, *, environment: Mapping[str, str] | None = None) -> Iterator[Talk]:
    """Start a program in a box and talk to it until the block ends; its box ends with it."""
    more = {"mode": required_mode(), "environment": dict(environment or {})}
    with prepared_launch(box, more) as launch:
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        where: dict[str, Any] = {"pass_fds": launch.handles, "env": {}, "cwd": "/", "start_new_session": True}
        start = time.monotonic()
        with subprocess.Popen(launch.command, bufsize=0, **pipes, **where) as process:
            talk = Talk(process, box.limits.output, box.limits.log)
            try:
                yield talk
            finally:
                talk.close()
                spent = time.monotonic() - start
                ended = Ended(process.returncode or 0, talk.stopped, stderr=bytes(talk.errors), seconds=spent)
                talk.ended = launch.with_report(ended)
