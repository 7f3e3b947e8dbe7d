"""Entries of a plan: those of any TOML file, under the rule of plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from basanite.formats.toml import entries

RULE: Final = "H-13"


@dataclass(frozen=True)
class Entries(entries.Entries):
    """One table of a plan."""

    rule: ClassVar[str] = RULE
    whole_file: ClassVar[str] = "the plan"
