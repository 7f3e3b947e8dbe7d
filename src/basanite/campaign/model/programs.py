"""What a window says about programs that are run on its sealed inputs, and what their teams may learn (G-1, G-2)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from basanite.campaign.model.file_entries import Duration, Size
from basanite.formats.config_file import Needed, Section, Usual, WrongError
from basanite.programs.contract import MIB, Resources

Mode = Literal["files", "pipe", "endpoint"]
_ANSWERS: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}(\.[A-Za-z0-9]{1,10}|/)")
LONGEST_LOG: Final = 64 * 2**10
"""Bytes of a log that are kept, and of one on sealed items the most that a plan may show."""
LARGEST_OUTPUT: Final = 64 * MIB
"""What one call may answer: it is kept as one row of the database until all is answered."""


def _answers(name: str) -> str:
    if name.strip() and not _ANSWERS.fullmatch(name):
        fix = 'write {key} = "answers.jsonl", or "answers/" for a folder of files'
        raise WrongError("`{key}` of {place} is neither the name of a file nor of a folder", fix, instead="answers.txt")
    return name


def _log(size: int | None) -> int | None:
    if size is not None and size > LONGEST_LOG:
        fix = 'write {key} = "4 KiB": what a program prints on sealed items can carry them to its team'
        raise WrongError("`{key}` of {place} is more than 64 KiB", fix, rule="G-2", instead=LONGEST_LOG)
    return size


def _output(size: int) -> int:
    if size > LARGEST_OUTPUT:
        raise WrongError("`{key}` of {place} is more than 64 MiB", 'write {key} = "16 MiB"', instead=LARGEST_OUTPUT)
    return size


@dataclass(frozen=True)
class Programs(Section):
    """Programs in place of answers: what they get, what they may use, and what their teams learn (G-1 to G-3)."""

    answers: Annotated[
        str,
        Needed("{place} does not say what its programs write", 'write answers = "answers.jsonl"', rule="G-1"),
        AfterValidator(_answers),
    ]
    """What a program writes in `out/`: the name of a file, `answers.jsonl`, or of a folder, `answers/`."""
    mode: Mode = "files"
    """How a program is asked: `files` (a call for each batch of items), `pipe` (line by line) or `endpoint` (https)."""
    runner: str = "sandbox"
    """What runs the programs: `sandbox`, or another registered runner (G-3)."""
    cores: Annotated[int, Field(ge=1, le=1024)] = 1
    """Processor cores of a call."""
    memory: Annotated[Size, Usual('`"2 GiB"`')] = 2 * 2**30
    """Memory of a call, files that it writes included."""
    gpus: Annotated[int, Field(ge=0, le=64)] = 0
    """Graphics processors of a call."""
    batch: Annotated[int, Field(ge=1, le=10**6)] = 1
    """Items of one call; what has been answered is kept call by call, so a crash of ours costs at most one."""
    item_time: Annotated[Duration, Usual('`"10 min"`')] = timedelta(minutes=10)
    """The longest that one call, or one answer over a pipe or from an endpoint, may take."""
    compute: Annotated[Duration, Usual('`"10 h"`')] = timedelta(hours=10)
    """Computing time of a team in this window: seconds of all its runs, times the cores."""
    output: Annotated[Size, Usual('`"16 MiB"`'), AfterValidator(_output)] = 16 * MIB
    """What one call may write; at most 64 MiB."""
    unpacked: Annotated[Size, Usual('`"1 GiB"`')] = 2**30
    """How large a program may be when it is unpacked."""
    reruns: Annotated[int, Field(ge=0, le=10**4)] = 3
    """Items that are asked again, alone and in another order, to see whether the program is deterministic (G-4)."""
    log: Annotated[Size | None, AfterValidator(_log)] = None
    """Bytes of what a program prints on sealed items that its team sees; without it none. At most 64 KiB."""
    header: bool = False
    """Whether the answers begin with a line of column names; it is kept once."""
    per_minute: Annotated[int, Field(ge=1, le=10**5)] = 60
    """Calls of an endpoint in a minute."""
    calls: Annotated[int, Field(ge=1, le=10**7)] = 10_000
    """Calls of an endpoint that one submission may cause in all."""

    @property
    def resources(self) -> Resources:
        """What one call may use."""
        return Resources(self.item_time.total_seconds(), self.cores, self.memory, self.gpus, self.output)

    @property
    def in_folder(self) -> bool:
        """Whether the answers are a folder of files."""
        return self.answers.endswith("/")

    @property
    def ending(self) -> str:
        """The ending of the file that is scored."""
        return ".tgz" if self.in_folder else f".{self.answers.rpartition('.')[2]}"


@dataclass(frozen=True)
class Scorer(Section):
    """An organizer's own scoring program, which comes with the reference and runs in the same sandbox (G-6)."""

    cores: Annotated[int, Field(ge=1, le=1024)] = 1
    """Processor cores."""
    memory: Annotated[Size, Usual('`"2 GiB"`')] = 2 * 2**30
    """Memory, files that it writes included."""
    time: Annotated[Duration, Usual('`"10 min"`')] = timedelta(minutes=10)
    """How long it may take for one submission."""

    @property
    def resources(self) -> Resources:
        """What it may use."""
        return Resources(self.time.total_seconds(), self.cores, self.memory, 0, LARGEST_OUTPUT)


def rounded_minutes(seconds: float) -> int:
    """A duration as teams see it: whole minutes, rounded up (G-2).

    >>> rounded_minutes(0.2), rounded_minutes(60), rounded_minutes(61)
    (1, 1, 2)
    """
    return max(1, math.ceil(seconds / 60))


def rounded_megabytes(size: int) -> int:
    """A size as teams see it: whole megabytes, rounded up (G-2).

    >>> rounded_megabytes(1), rounded_megabytes(2_000_001)
    (1, 3)
    """
    return max(1, math.ceil(size / 10**6))
