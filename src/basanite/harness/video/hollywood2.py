"""The twelve actions, how often they were published to occur, and the moves they are drawn as (H-1, H-3).

An action is two moves one after the other. Eight of them form four pairs that are each other's reverse, so that who
counts moves without regard to their order confuses the two, and anyone who looks at a longer stretch of time need not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from basanite.errors import InvalidInputError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem, shortened

Part = Literal["train", "test"]
Move = Literal["left", "right", "up", "down", "grow", "shrink", "clockwise", "back"]

ACTIONS: Final[Mapping[str, tuple[Move, Move]]] = {
    "AnswerPhone": ("clockwise", "down"),
    "DriveCar": ("right", "up"),
    "Eat": ("down", "clockwise"),
    "FightPerson": ("clockwise", "back"),
    "GetOutCar": ("up", "right"),
    "HandShake": ("up", "down"),
    "HugPerson": ("left", "grow"),
    "Kiss": ("grow", "left"),
    "Run": ("right", "right"),
    "SitDown": ("shrink", "back"),
    "SitUp": ("shrink", "grow"),
    "StandUp": ("back", "shrink"),
}
"""In the order of the alphabet, which is the order of labels (A6)."""

REVERSED: Final = (("AnswerPhone", "Eat"), ("DriveCar", "GetOutCar"), ("HugPerson", "Kiss"), ("SitDown", "StandUp"))


class Published(NamedTuple):
    """What the published set holds of one part."""

    by_labels: tuple[int, int, int]
    """Clips with one, two and three labels."""
    by_action: tuple[int, ...]
    """Samples of every action, in the order of `ACTIONS`."""

    @property
    def clips(self) -> int:
        """How many clips there are."""
        return sum(self.by_labels)

    @property
    def samples(self) -> int:
        """How many labels there are."""
        return sum(self.by_action)


PUBLISHED: Final[Mapping[Part, Published]] = {
    "train": Published((750, 68, 5), (66, 85, 40, 54, 51, 32, 64, 114, 135, 104, 24, 132)),
    "test": Published((798, 84, 2), (64, 102, 33, 70, 57, 45, 66, 103, 141, 108, 37, 146)),
}


def draw_labels(part: Part, clips: int, dice: np.random.Generator) -> list[tuple[int, ...]]:
    """The labels of every clip, so many with one, two and three labels, and each action as often, as published.

    Fewer clips than published keep the shares; every action occurs at least twice.

    >>> found = draw_labels("train", 823, np.random.default_rng(0))
    >>> [sum(len(labels) == size for labels in found) for size in (1, 2, 3)]
    [750, 68, 5]
    """
    known = PUBLISHED[part]
    sizes = shares(known.by_labels, clips)
    left = np.array(shares(known.by_action, sizes[0] + 2 * sizes[1] + 3 * sizes[2], least=2))
    found = []
    for size in np.repeat([3, 2, 1], sizes[::-1]):
        labels = dice.choice(len(left), size, replace=False, p=left / left.sum())
        labels = labels if (left[labels] > 0).all() and (left > 0).sum() >= size else np.argsort(-left)[:size]
        left[labels] -= 1
        found.append(tuple(sorted(int(label) for label in labels)))
    return [found[place] for place in dice.permutation(len(found))]


def shares(parts: tuple[int, ...], total: int, *, least: int = 0) -> list[int]:
    """A total divided in these proportions by largest remainders; no part gets fewer than the least.

    >>> shares((2, 1, 1), 6), shares((97, 2, 1), 12, least=2)
    ([3, 2, 1], [8, 2, 2])
    """
    exact = [part * total / sum(parts) for part in parts]
    found = [int(share) for share in exact]
    for place in sorted(range(len(parts)), key=lambda place: found[place] - exact[place])[: total - sum(found)]:
        found[place] += 1
    for place, share in enumerate(found):
        found[place] = max(share, least)
    while sum(found) > total:
        found[int(np.argmax(found))] -= 1
    return found


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


def is_hollywood2(folder: Path) -> bool:
    """Whether a folder has the clips or the lists of the published layout; no folder of a class is called so."""
    return any((folder / name).is_dir() for name in (*FOLDERS, "ClipSets"))


def read_layout(folder: Path) -> Layout:
    """Read the lists; everything that does not add up is reported at once."""
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
