"""Who may see what of a submission, and when: the one place that decides (M68-M72, M78, P-23 to P-25, X-7, X-16).

`sight` answers for a viewer, a submission and a moment; `shown` cuts a result down to that. Pages, answers, mails,
logs, exports and receipts all come through here, so a leak has one place to be looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from basanite.campaign.model.plan import Campaign, Naming, Window
from basanite.campaign.model.redaction import Cut, Rung, curves_shown, cut_down
from basanite.campaign.model.windows import is_blind, is_sealed

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


Level = Literal["none", "ladder", "limited", "top", "full"]
ACTS: Final = ("certification", "top", "details", "e2e", "public")
"""Releases, each an act of its own with its time (M70)."""
RANK: Final[Mapping[Level, int]] = {"none": 0, "ladder": 1, "limited": 2, "top": 3, "full": 4}
MASKED: Final = {"scoring": "accepted", "scored": "accepted"}
"""What a blind window shows: the same for every valid run (M68). A fault of ours is said, it tells no score."""
FINAL: Final = frozenset({"invalid", "scored", "failed", "accepted"})


@dataclass(frozen=True)
class SubmissionFacts:
    """What the policy must know about a submission."""

    team: str
    task: str
    type: str = "contrastive"
    state: str = "scored"
    standing: str = "on time"
    admitted: bool = False
    """Whether a late one was let into the ranks (P-23)."""
    described: bool = True
    """Whether the description has every field that its track requires (P-31)."""
    beyond_looks: bool = False
    """Whether the team had used up the looks of the window when it came (X-23)."""

    @property
    def is_compared(self) -> bool:
        """Whether it stands beside other teams' runs (M78, P-23)."""
        counts = self.standing in ("on time", "baseline") or (self.standing == "late" and self.admitted)
        return counts and (self.type == "primary" or self.standing == "baseline") and self.state == "scored"


@dataclass(frozen=True)
class Sight:
    """What one viewer may see of one submission at one moment."""

    exists: bool = False
    """Whether there is anything at all for this viewer; else the answer is 404."""
    own: bool = False
    staff: bool = False
    state: str = ""
    level: Level = "none"
    e2e: bool = False
    """Whether values of judged summaries are among what is shown (M70)."""
    problems: bool = False
    """Whether what validation found is shown: to the own team, always (M65)."""
    file: bool = False
    """Whether the archive itself may be fetched."""
    naming: Naming | Literal["own name"] = "own"
    shows: tuple[str, ...] = ()
    half_width: float = 0.05
    sealed: bool = True
    curves: bool = False
    """Whether the curves behind the values are shown: on open sets with full feedback, else once details are out."""

    @property
    def final(self) -> bool:
        """Whether the state that is shown will not change by itself."""
        return self.state in FINAL


NOTHING: Final = Sight()


def effective(window: Window, releases: Mapping[str, datetime], now: datetime) -> frozenset[str]:
    """The releases that hold now; where a window names moments, an act takes effect at the next of them (X-16)."""
    return frozenset(
        act
        for act, at in releases.items()
        if act in ACTS and min((moment.utc for moment in window.results_at if moment.utc >= at), default=at) <= now
    )


def sight(
    viewer: Viewer,
    campaign: Campaign,
    window: Window,
    submission: SubmissionFacts,
    releases: Mapping[str, datetime],
    now: datetime,
) -> Sight:
    """What this viewer may see of this submission now; `releases` gives the time of each act of the window."""
    acts = effective(window, releases, now) if submission.described else frozenset()
    if viewer.staff:
        return _for_staff(campaign, window, submission)
    if viewer.team == submission.team and viewer.team is not None:
        return _for_own_team(viewer, campaign, window, submission, acts)
    return _for_others(viewer, campaign, window, submission, acts)


def _for_staff(campaign: Campaign, window: Window, submission: SubmissionFacts) -> Sight:
    """The evaluation team sees all values; single documents are shown to nobody here (M72)."""
    return Sight(
        exists=True,
        staff=True,
        state=submission.state,
        level="full" if submission.state == "scored" else "none",
        e2e=True,
        problems=True,
        file=True,
        naming="own name",
        shows=window.shows,
        half_width=window.half_width,
        sealed=is_sealed(campaign, window),
        curves=submission.state == "scored",
    )


def _for_own_team(
    viewer: Viewer, campaign: Campaign, window: Window, submission: SubmissionFacts, acts: frozenset[str]
) -> Sight:
    certifying = "certification" in acts and viewer.pi
    released, state = _released_level(acts, certifying), submission.state
    level = max(_feedback(window, submission), released, key=RANK.__getitem__)
    judging = bool(viewer.roles & JUDGING)
    visible = submission.state == "scored" and not judging
    return Sight(
        exists=True,
        own=True,
        state=MASKED.get(state, state) if is_blind(window) and released == "none" else state,
        level=level if visible else "none",
        e2e="e2e" in acts or certifying or not is_blind(window),
        problems=True,
        file=True,
        naming="own name",
        shows=window.shows,
        half_width=window.half_width,
        sealed=is_sealed(campaign, window),
        curves=visible and level == "full" and ("details" in acts or not is_sealed(campaign, window)),
    )


def _feedback(window: Window, submission: SubmissionFacts) -> Level:
    """What the row gives back at once (M69); a ladder gives less than any feedback level (S-17).

    Where looks are bounded the ladder begins when they are used up (X-23).
    """
    if is_blind(window):
        return "none"
    on_ladder = window.ladder is not None if window.looks is None else submission.beyond_looks
    return "ladder" if on_ladder else "full" if window.feedback == "full" else "limited"


def _released_level(acts: frozenset[str], certifying: bool = False) -> Level:
    if "details" in acts or certifying:
        return "full"
    return "top" if "top" in acts else "none"


def _for_others(
    viewer: Viewer, campaign: Campaign, window: Window, submission: SubmissionFacts, acts: frozenset[str]
) -> Sight:
    """Other teams see released primaries; everybody else, judges among them, what is public (M78, P-25)."""
    inside = viewer.team is not None and not viewer.roles & JUDGING
    open_to_viewer = inside or "public" in acts
    level = _released_level(acts)
    if not open_to_viewer or level == "none" or window.naming == "own" or not submission.is_compared:
        return NOTHING
    return Sight(
        exists=True,
        state="scored",
        level=level,
        e2e="e2e" in acts,
        naming=window.naming,
        shows=window.shows,
        half_width=window.half_width,
        sealed=is_sealed(campaign, window),
    )


def team_name(sight: Sight, viewer: Viewer, *, name: str, pseudonym: str, consented: bool) -> str:
    """What the team behind a submission is called for this viewer; in public a name takes consent (P-25)."""
    if sight.own or sight.staff:
        return name
    inside = viewer.team is not None and not viewer.roles & JUDGING
    return name if sight.naming == "named" and (inside or consented) else pseudonym


def visible_result(result: Mapping[str, Any], sight: Sight, rung: Rung | None = None) -> dict[str, Any]:
    """What of a `score --json` object this sight lets through: nothing at all in a blind window."""
    if sight.level == "none":
        return {}
    cut = Cut(sight.level, sight.e2e, sight.shows, sight.half_width, sealed=sight.sealed and not sight.staff)
    return cut_down(result, cut, rung)


def visible_figures(figures: Iterable[Mapping[str, Any]], sight: Sight) -> tuple[Mapping[str, Any], ...]:
    """What of a result's figures this sight lets through, as plain data."""
    return curves_shown(figures, sealed=sight.sealed and not sight.staff) if sight.curves else ()
