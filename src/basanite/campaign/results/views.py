"""What somebody sees of submissions, results and boards: values from which everything hidden has been left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from basanite.campaign.programs.view import SeenProgram
from basanite.campaign.store.plans import InForce, at_version
from basanite.campaign.store.tables import Reference, Result


@dataclass(frozen=True)
class Provenance:
    """What stands with every result, so that it can be made again from the archive (M80)."""

    plan_version: int
    """The version of the campaign's file."""
    plan: str
    """The plan version that the campaign names, like 6.0.4."""
    reference_version: int
    software: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What scoring was told: beta and the rest."""


@dataclass(frozen=True)
class SeenResult:
    """A result as somebody may see it."""

    key: str
    """The key under which it is stored; empty where even that would tell something."""
    level: str
    """How much is shown: `full`, `limited`, `ladder`."""
    data: Mapping[str, Any]
    """The object of `score --json`, with what this viewer may not see left out."""
    provenance: Provenance
    at: datetime | None = None
    superseded: bool = False
    """Whether a newer result of the same submission holds."""

    @property
    def primary(self) -> str:
        """The name of the value that counts."""
        return str(self.data.get("primary", ""))

    @property
    def value(self) -> float | None:
        """The value that counts, if it is shown and defined."""
        entry = self.data.get("values", {}).get(self.primary, {})
        number = entry.get("value")
        return None if number is None else float(number)


@dataclass(frozen=True)
class SeenSubmission:
    """A submission as somebody may see it."""

    id: str
    campaign: str
    """The campaign's slug."""
    window: str
    team_id: str
    team: str
    """How the team is called for this viewer."""
    own: bool
    number: int
    task: str
    language: str
    dataset: str
    queryset: str
    type: str
    track: str
    label: str
    name: str
    size: int
    sha256: str
    description: Mapping[str, Any]
    door: str
    person_id: str
    started: datetime
    received: datetime
    standing: str
    standing_reason: str
    admitted: datetime | None
    state: str
    """In blind windows `received`, `validating`, `accepted` or `invalid`: the same for every valid run (M68)."""
    final: bool
    """Whether the state that is shown will not change by itself."""
    problems: Mapping[str, Any] | None
    """The object of `validate --json`, once there is one."""
    fault: str
    """What went wrong on our side, in words."""
    result: SeenResult | None
    similar_to: str | None = None
    """For the evaluation team alone: a near-identical submission of another team (X-7)."""
    missing: tuple[str, ...] = ()
    """Fields of the description that its track requires and that are empty: the run is not released (P-31)."""
    program: SeenProgram | None = None
    """How its program ran; None for answers (G-2)."""


@dataclass(frozen=True)
class BoardRow:
    """One system on a board."""

    name: str
    own: bool
    baseline: bool
    value: float | None
    low: float | None
    high: float | None
    ranks: tuple[int, int] | None
    """First and last rank it could have; None for who stands outside ranks."""
    group: int | None
    """Systems of one group number are not significantly different; 1 is the best."""
    looks: int
    """How many results this team had seen on these data (S-17)."""
    submission_id: str | None = None
    """Where to look further, if this viewer may."""
    note: str = ""
    system: str = ""
    """The label of the run, where the viewer may know whose it is."""
    received: datetime | None = None
    """When the run came in, where the viewer may know whose it is."""
    values: Mapping[str, tuple[float | None, float | None, float | None]] = field(default_factory=dict)
    """Value and interval of each metric of the board."""
    declared: Mapping[str, float] = field(default_factory=dict)
    """Numbers among the fields that the track requires, where the viewer may know whose run it is."""
    against: int | None = None
    """Against the row that was chosen: 1 significantly better, -1 worse, 0 neither; None where nothing was tested."""


@dataclass(frozen=True)
class SeenBoard:
    """Primary submissions of one task, language and track in one window, side by side (M78)."""

    campaign: str
    window: str
    task: str
    language: str
    track: str
    metric: str
    rows: tuple[BoardRow, ...]
    left_out: Mapping[str, int]
    """How many are not compared, by reason: late, withdrawn, disqualified, no primary, … (P-23)."""
    naming: str
    level: str
    """`none`: nothing may be shown yet; else what is shown."""
    notes: tuple[str, ...] = ()
    provenance: Provenance | None = None
    pending: bool = False
    """Whether groups and ranks are still being computed."""
    released: bool = False
    """Whether the teams may see values and ranks by now."""
    ranked: bool = False
    """Whether this viewer may see the runs of all teams."""
    without_primary: bool = False
    """Whether the viewer's own team has runs here and none that stands for it (C46)."""
    interim: bool = False
    """Whether the window is open, so that runs may still come and values may change (S-33)."""
    detectable: tuple[float, float] | None = None
    """From which to which difference pairs of systems would show in 80 % of cases, once ranks are there (S-30)."""
    metrics: tuple[str, ...] = ()
    """The metrics that have a column, the window's own first."""
    fill: str = "primary"
    """Which run of a team stands here: `primary`, `best`, `latest`."""
    against: str = ""
    """The name of the row that all others are compared with."""
    tested: str = ""
    """The only metric whose pairs were tested, where the board is looked at by another one (P-40)."""


SEED: Final = re.compile(r"\|seed:[^|]*")


def provenance(session: Session, plan: InForce, result: Result) -> Provenance:
    """Plan version, settings with beta, version of the key and of the program behind a result."""
    version, reference = _made_with(session, plan, result)
    return Provenance(
        plan_version=result.plan_version,
        plan=version,
        reference_version=reference,
        software=result.software,
        settings={name: value for name, value in result.settings.items() if name != "seed"},
    )


def _made_with(session: Session, plan: InForce, result: Result) -> tuple[str, int]:
    """What the plan's file calls its version, and the version of the key.

    Neither ever changes once there is a result, and most results of a page share both: a session asks once.
    """
    known: dict[tuple[object, ...], tuple[str, int]] = session.info.setdefault(__name__, {})
    key = (plan.row.id, result.plan_version, result.reference_id)
    if key not in known:
        then = plan.campaign
        if plan.version != result.plan_version:
            then = at_version(session, plan.row.id, result.plan_version)
        known[key] = then.plan_version, session.get_one(Reference, result.reference_id).version
    return known[key]


def without_seed(data: Mapping[str, Any]) -> dict[str, Any]:
    """A result without the seed of its draws, which a sealed campaign keeps to itself (X-1).

    >>> without_seed({"settings": {"seed": 7, "beta": 20.0}, "signature": "task:clir|seed:7|beta:20"})
    {'settings': {'beta': 20.0}, 'signature': 'task:clir|beta:20'}
    """
    kept = dict(data)
    if "settings" in kept:
        kept["settings"] = {name: value for name, value in kept["settings"].items() if name != "seed"}
    if "signature" in kept:
        kept["signature"] = SEED.sub("", str(kept["signature"]))
    return kept
