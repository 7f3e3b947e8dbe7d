"""What to do at which share of new data: the user's own table, such as keep, fine-tune, retrain."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded

USUAL: Final = "0=keep,0.2=fine-tune,0.5=retrain"
MOST_BYTES: Final = 1 << 16


@dataclass(frozen=True)
class Actions:
    """Actions by the share from which they hold, in rising order; the first holds from 0."""

    starts: tuple[float, ...]
    names: tuple[str, ...]

    def at(self, share: float) -> str:
        """The action at a share of new data.

        >>> actions_of("0=keep,0.2=fine-tune,0.5=retrain").at(0.3)
        'fine-tune'
        """
        return self.names[max(sum(start <= share for start in self.starts) - 1, 0)]

    def between(self, low: float, high: float) -> tuple[str, ...]:
        """Every action that may be right if the share lies between these."""
        kept = [self.at(low), *(name for start, name in self.pairs if low < start <= high)]
        return tuple(dict.fromkeys(kept))

    @property
    def pairs(self) -> tuple[tuple[float, str], ...]:
        """Shares with their actions."""
        return tuple(zip(self.starts, self.names, strict=True))


def actions_of(text: str) -> Actions:
    """The table from `0=keep,0.2=fine-tune,…`, or from a file with lines `share,action`."""
    if "=" not in text:
        text = _from_file(Path(text))
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    try:
        starts = tuple(float(start) for start, _, _ in pairs)
    except ValueError as error:
        raise _wrong(text) from error
    names = tuple(name.strip() for _, _, name in pairs)
    rising = all(low < high for low, high in pairwise(starts))
    if not starts or starts[0] != 0 or not rising or starts[-1] > 1 or not all(names):
        raise _wrong(text)
    return Actions(starts, names)


def _from_file(path: Path) -> str:
    text = read_bounded(path, MOST_BYTES).decode("utf-8-sig", "backslashreplace")
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    body = rows[1:] if rows and not rows[0][0].strip().replace(".", "", 1).isdigit() else rows
    if not body or any(len(row) != 2 for row in body):
        raise _wrong(path.name)
    return ",".join(f"{start}={name}" for start, name in body)


def _wrong(text: str) -> SettingError:
    return SettingError(
        f"{text!r} is no table of actions. Write shares of new data, rising from 0, each with what to do: {USUAL}"
    )
