"""Names that must not appear: those of teams that have not agreed to be named, or are not named in a window (P-25).

Teams write names where no rule can forbid it: into descriptions, labels, reasons and inside of archives. What holds
such a name is left out of the site, and the site says that it was left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from basanite.campaign.store.tables import Team

WITHHELD = "(left out: it would name its maker)"


@dataclass(frozen=True)
class Unnamed:
    """Finds the names of teams that are not to be named."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, teams: Iterable[Team]) -> Unnamed:
        """The names that these teams are known by."""
        return cls(tuple(sorted({name for team in teams for name in (team.name, team.code) if name})))

    def hides(self, text: str) -> bool:
        """Whether a text holds one of the names, however it is written.

        >>> Unnamed(("Alpha",)).hides("our ALPHA_2 system"), Unnamed(("Alpha",)).hides("the alphabet")
        (True, False)
        """
        plain = text.casefold()
        return any(re.search(rf"(?<![^\W\d_]){re.escape(name.casefold())}(?![^\W\d_])", plain) for name in self.names)

    def in_bytes(self, data: bytes) -> bool:
        """Whether bytes hold one of the names as text."""
        return self.hides(data.decode("utf-8", "replace"))

    def cleaned(self, value: Any) -> Any:
        """The same value without texts that would name somebody; the names of fields are ours and stay."""
        if isinstance(value, str):
            return WITHHELD if self.hides(value) else value
        if isinstance(value, dict):
            return {key: self.cleaned(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.cleaned(part) for part in value]
        return value

    def form(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A description form, whose names of fields may be the team's own."""
        return {name: self.cleaned(value) for name, value in fields.items() if not self.hides(name)}
