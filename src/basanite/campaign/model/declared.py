"""What a team says about a submission before it is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Declared:
    """The choices made in the form, in the request, on the command line or in the name of a dropped file."""

    task: str
    """As the calendar spells it: CLIR, E2E, DomainID, LangID, or a registered task."""
    label: str
    type: str = "contrastive"
    language: str = ""
    queryset: str = ""
    dataset: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    track: str = ""
    condition: str = "unconstrained"
    description: Mapping[str, Any] = field(default_factory=dict)
    """The system's description: `text` and whatever fields the track requires (M77, P-31)."""
    name: str = ""
    """The file's name as the user has it; a full name must agree with everything above (M58)."""
    window: str = ""
    """The row of the calendar, where the door names it: a drop folder does (D-3)."""
