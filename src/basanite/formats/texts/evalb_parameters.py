"""Parameter files of evalb (`.prm`): which labels are deleted and which are equal, for those who have such a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded

LARGEST = 1 << 20
WORDS = {"DELETE_LABEL": 1, "DELETE_LABEL_FOR_LENGTH": 1, "EQ_LABEL": 2, "EQ_WORD": 2, "CUTOFF_LEN": 1}
"""The keywords that change what is counted, and how many words follow each."""
NO_MATTER = ("DEBUG", "MAX_ERROR", "LABELED")
"""Both labelled and unlabelled values are always given, and every fault is told."""
NOT_FOLLOWED = ("QUOTE_LABEL",)


@dataclass(frozen=True)
class Parameters:
    """What a parameter file says; a keyword that it does not hold deletes and equals nothing, as in evalb."""

    deleted: tuple[str, ...] = ()
    not_in_length: tuple[str, ...] = ()
    equal_labels: tuple[tuple[str, str], ...] = ()
    equal_words: tuple[tuple[str, str], ...] = ()
    cutoff: int | None = None
    not_followed: tuple[str, ...] = field(default=())


def read_parameters(path: Path) -> Parameters:
    """The parameters of a file; all faults of it are named in one error."""
    text = read_bounded(path, LARGEST).decode("utf-8-sig", "replace")
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), start=1)]
    used = [(number, words) for number, words in lines if words and not words[0].startswith("#")]
    faults = [fault for number, words in used for fault in _faults(number, words)]
    if faults:
        raise SettingError(f"{path.name} is no parameter file of evalb: {'; '.join(faults)}.")
    return _parameters([words for _, words in used])


def _faults(number: int, words: list[str]) -> Iterator[str]:
    name, values = words[0], words[1:]
    if name not in (*WORDS, *NO_MATTER, *NOT_FOLLOWED):
        yield f"line {number} has the unknown word {name[:40]!r}"
    elif name in WORDS and len(values) != WORDS[name]:
        yield f"line {number}: {name} takes {WORDS[name]} of the words after it, and there are {len(values)}"
    elif name == "CUTOFF_LEN" and not values[0].isdecimal():
        yield f"line {number}: {values[0][:40]!r} is no length"


def _parameters(lines: list[list[str]]) -> Parameters:
    def values(keyword: str) -> tuple[str, ...]:
        return tuple(words[1] for words in lines if words[0] == keyword)

    def pairs(keyword: str) -> tuple[tuple[str, str], ...]:
        return tuple((words[1], words[2]) for words in lines if words[0] == keyword)

    lengths = values("CUTOFF_LEN")
    return Parameters(
        values("DELETE_LABEL"),
        values("DELETE_LABEL_FOR_LENGTH"),
        pairs("EQ_LABEL"),
        pairs("EQ_WORD"),
        int(lengths[-1]) if lengths else None,
        tuple(dict.fromkeys(words[0] for words in lines if words[0] in NOT_FOLLOWED)),
    )
