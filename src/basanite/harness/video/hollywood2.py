"""The published layout of action clips: which clips there are, which actions each shows, and what must add up (H-1).

AVIClips/actioncliptrain00001.avi        ClipSets/Kiss_train.txt ("actioncliptrain00001  -1" a line)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import InvalidInputError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.harness.video.actions import ACTIONS, PUBLISHED, Part
from basanite.problems import Findings, Problem, shortened

RULE: Final = "H-1"
FOLDERS: Final = ("AVIClips", "AVIClips05")
"""Some copies have the clips at half size."""
PARTS: Final[tuple[Part, Part]] = ("train", "test")
LONGEST_LIST: Final = 4 * 2**20


@dataclass(frozen=True)
class Listed:
    """One part of the set: its clips in the order of the lists, and a column of 0 and 1 for each action."""

    clips: tuple[str, ...]
    labels: NDArray[np.bool_]

    def counts(self) -> dict[str, Any]:
        """What the published text counts, counted here."""
        each = self.labels.sum(axis=1)
        by_labels = tuple(int((each == size).sum()) for size in (1, 2, 3))
        return facts(len(self.clips), by_labels, self.labels.sum(axis=0).tolist())


@dataclass(frozen=True)
class Layout:
    """A set on disk."""

    folder: Path
    parts: Mapping[Part, Listed]

    def path(self, clip: str) -> Path:
        """Where a clip lies."""
        return clips_folder(self.folder) / f"{clip}.avi"

    def counts(self) -> dict[str, Any]:
        """Clips and labels found, beside those published."""
        known = {part: facts(of.clips, of.by_labels, of.by_action) for part, of in PUBLISHED.items()}
        found = {part: listed.counts() for part, listed in self.parts.items()}
        return {**_flat(found), "published": _flat(known)}


def facts(clips: int, by_labels: Sequence[int], by_action: Sequence[int]) -> dict[str, Any]:
    """Clips, how many of them have one, two and three labels, labels in all, and of the rarest and commonest action."""
    return {
        "clips": clips,
        "clips_with_1_2_3_labels": "/".join(map(str, by_labels)),
        "labels": sum(by_action),
        "labels_of_an_action": f"{min(by_action)} to {max(by_action)}",
    }


def _flat(by_part: Mapping[Part, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{part}_{name}": value for part, counts in by_part.items() for name, value in counts.items()}


def clips_folder(folder: Path) -> Path:
    """The folder of the clips, by whichever of its names it has."""
    found = next((folder / name for name in FOLDERS if (folder / name).is_dir()), None)
    if found is None:
        raise UnreadableError(f"{folder} has no folder {' or '.join(FOLDERS)}. Name the folder that holds it.")
    return found


def read_layout(folder: Path) -> Layout:
    """Read the lists; everything that does not add up is told at once."""
    findings = Findings()
    clips = clips_folder(folder)
    parts = {part: _read_part(folder / "ClipSets", part, findings) for part in PARTS}
    for listed in parts.values():
        findings.extend(_without_file(listed, clips))
    if not findings.valid:
        raise InvalidInputError("video", findings)
    return Layout(folder, parts)


def _read_part(lists: Path, part: Part, findings: Findings) -> Listed:
    columns = [_read_list(lists / f"{action}_{part}.txt", findings) for action in ACTIONS]
    clips = tuple(dict.fromkeys(clip for column in columns for clip in column))
    for action, column in zip(ACTIONS, columns, strict=True):
        findings.extend(_left_out(f"{action}_{part}.txt", [clip for clip in clips if clip not in column]))
    labels = np.array([[column.get(clip, False) for column in columns] for clip in clips], bool)
    return Listed(clips, labels.reshape(len(clips), len(ACTIONS)))


def _read_list(path: Path, findings: Findings) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for number, raw in enumerate(read_bounded(path, LONGEST_LIST).splitlines(), start=1):
        words = raw.split()
        if len(words) == 2 and words[1] in (b"1", b"-1") and words[0].isalnum() and words[0].decode() not in found:
            found[words[0].decode()] = words[1] == b"1"
        elif words:
            findings.add(_fault(path.name, number, "no clip with 1 or -1, or one listed before", shortened(raw)))
    return found


def _left_out(file: str, clips: list[str]) -> Iterator[Problem]:
    for clip in clips:
        yield _fault(file, None, f"{clip} is not in this list", "", "list every clip of the part in every list")


def _without_file(listed: Listed, folder: Path) -> Iterator[Problem]:
    for clip in listed.clips:
        if not (folder / f"{clip}.avi").is_file():
            yield _fault(f"{clip}.avi", None, f"it is listed and not in {folder.name}", "", "copy the clip again")
    for clip, labels in zip(listed.clips, listed.labels, strict=True):
        if not labels.any():
            yield _fault(f"{clip}.avi", None, "no list says which action it shows", "", "mark it with 1 in one list")


def _fault(file: str, line: int | None, message: str, found: str, fix: str = "write `clip 1` or `clip -1`") -> Problem:
    return Problem(RULE, file, line, None, message, fix, found, where="reference")
