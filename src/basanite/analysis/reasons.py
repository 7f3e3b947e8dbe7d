"""Why a verdict is what it is, with the numbers that it rests on: never one of several things that may be so (S-29)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["dominated", "few", "disagree", "adjusted"]
WORDS: Mapping[Kind, str] = {
    "dominated": "{percent} % of the squared differences come from {unit} alone (limit {most} %)",
    "few": "only {differing} of {among} {things} differ, so no adjusted p below {smallest_p:.3g} is possible",
    "disagree": "p {p:.3g} is {side} {alpha:g}, yet the interval {low:.4g} to {high:.4g} {holds} 0",
    "adjusted": "p {p:.3g} becomes {p_adjusted:.3g} for {pairs} pairs, and the interval is of this pair alone",
}


@dataclass(frozen=True)
class Reason:
    """One reason of a verdict."""

    kind: Kind
    figures: Mapping[str, float]
    unit: str = ""
    """The unit, or cluster, that dominates."""
    things: str = "units"
    """What is swapped between the systems: units, or clusters of them."""

    def __str__(self) -> str:
        return WORDS[self.kind].format(**self.parts, unit=self.unit, things=self.things)

    @property
    def parts(self) -> dict[str, Any]:
        """The figures, with what words about them need besides."""
        found: dict[str, Any] = dict(self.figures)
        if self.kind == "dominated":
            found |= {"percent": f"{100 * found['share']:.0f}", "most": f"{100 * found['most']:.0f}"}
        if self.kind == "disagree":
            above = found["p"] > found["alpha"]
            found |= {"side": "above" if above else "at most", "holds": "excludes" if above else "contains"}
        return found

    def as_dict(self) -> dict[str, Any]:
        """The reason as JSON says it."""
        named = {"unit": self.unit} if self.unit else {}
        return {"kind": self.kind, **self.figures, "things": self.things, **named}
