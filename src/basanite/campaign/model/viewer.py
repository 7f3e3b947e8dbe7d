"""Who looks: the one thing besides time that decides what may be seen (P-5)."""

from __future__ import annotations

from dataclasses import dataclass

STAFF = frozenset({"evaluation", "administrator"})
JUDGING = frozenset({"judge", "annotator", "adjudicator"})


@dataclass(frozen=True)
class Viewer:
    """A person as seen from one campaign; nobody in particular is a visitor."""

    person: str | None = None
    roles: frozenset[str] = frozenset()
    """`judge`, `annotator`, `adjudicator`, `evaluation`, `administrator`, `team_maker`."""
    team: str | None = None
    """The team this person is an active member of, in this campaign."""
    pi: bool = False
    campaign: str | None = None
    """The campaign it is seen from: rights hold there and nowhere else; None for what the system itself looks at."""

    def at_home(self, campaign_id: str) -> bool:
        """Whether the rights of this viewer hold in a campaign."""
        return self.campaign in (None, campaign_id)

    @property
    def party(self) -> str:
        """Whose turn it is where calls wait: the team's, or that of the campaign's own people (X-22)."""
        return (None if self.staff else self.team) or self.campaign or ""

    @property
    def staff(self) -> bool:
        """Whether this is one of the evaluation team."""
        return bool(self.roles & STAFF)


VISITOR = Viewer()
