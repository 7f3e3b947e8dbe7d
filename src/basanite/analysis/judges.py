"""Judges: how their votes become one verdict on each item, by a rule that has a name (S-18, C08)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from basanite.analysis.dawid_skene import Fitted, fit
from basanite.analysis.votes import Reals, Tie, Votes, all_relevant, any_relevant, decided, shares
from basanite.errors import SettingError

Judging = Literal["binary", "raw"]
Rule = Literal["majority", "any", "all", "dawid_skene"]
TIES = {"N": "a tie is not relevant", "R": "a tie is relevant"}


@dataclass(frozen=True)
class Combination:
    """How votes are combined: into one verdict by a rule, or not at all (raw: an item is relevant by its share)."""

    judging: Judging = "binary"
    rule: Rule = "majority"
    tie: Tie = "N"

    def __post_init__(self) -> None:
        given = {"judging": (self.judging, Judging), "rule": (self.rule, Rule), "tie": (self.tie, Tie)}
        for name, (value, known) in given.items():
            if value not in get_args(known):
                raise SettingError(f"{name}={value!r} is not known. Use one of {', '.join(get_args(known))}.")

    def __str__(self) -> str:
        """What the report and the result's name say of it (M12, C08).

        >>> str(Combination()), str(Combination("raw"))
        ('majority, a tie is not relevant', 'raw shares of votes')
        """
        if self.judging == "raw":
            return "raw shares of votes"
        tied = f", {TIES[self.tie]}" if self.rule in ("majority", "dawid_skene") else ""
        return {"any": "any vote", "all": "all votes", "dawid_skene": "Dawid-Skene"}.get(self.rule, self.rule) + tied


@dataclass(frozen=True)
class Panel:
    """Votes with the way they are combined: gives the share of each item that counts as relevant."""

    votes: Votes
    combination: Combination
    fitted: Fitted | None = None
    """What Dawid-Skene found, with its restarts, where that is the rule."""

    def shares(self) -> Reals:
        """The share of each item: 0 or 1, or r/K if raw; nan without votes."""
        combination = self.combination
        if self.fitted is not None:
            return decided(self.fitted.posterior, combination.tie)
        share = shares(self.votes)
        if combination.judging == "raw":
            return share
        if combination.rule == "majority":
            return decided(share, combination.tie)
        return any_relevant(share) if combination.rule == "any" else all_relevant(share)


def panel_of(votes: Votes, combination: Combination | None = None) -> Panel:
    """The panel of these votes; fits the judges if the rule needs it."""
    chosen = combination or Combination()
    needs_fit = chosen.judging == "binary" and chosen.rule == "dawid_skene"
    return Panel(votes, chosen, fit(votes) if needs_fit else None)
