"""Everything that was said on a panel as judging takes it, under names for judges that nobody can trace (P-21)."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.panels.attending.desk import CRITERIA, RANKING
from basanite.campaign.panels.deciding.adjudicating import decisions
from basanite.campaign.panels.deciding.said import said
from basanite.campaign.panels.watching.looking import EVERY_ROLE
from basanite.campaign.store.tables import Panel, RoundEnd
from basanite.judging.judgements import Decision, Judged, Ranking

NAMES = "judge-names"
"""The kind of secret under which judges of a campaign get their names in files."""
CROWD = "judge-"


def namer(office: Office, campaign_id: str) -> Callable[[str], str]:
    """What stands for a judge in files: the same in the whole campaign, and of no use to anybody without the vault."""

    def name(person_id: str) -> str:
        if person_id.startswith(CROWD):
            return person_id
        return CROWD + office.vault.hmac(NAMES, campaign_id, person_id.encode())[:16]

    return name


def judged_of(session: Session, office: Office, panel: Panel) -> Judged:
    """All judgements that count, rankings, criteria and decisions of a panel."""
    name = namer(office, panel.campaign_id)
    given = [one.plain(name(one.judge)) for one in said(session, panel.id, EVERY_ROLE)]
    ends = session.scalars(select(RoundEnd).where(RoundEnd.panel_id == panel.id).order_by(RoundEnd.at, RoundEnd.id))
    rankings: list[Ranking] = []
    criteria: dict[str, list[str]] = {}
    for row in ends:
        if row.kind == RANKING:
            rankings.append(Ranking(name(row.person_id), row.round, tuple(row.content)))
        elif row.kind == CRITERIA:
            criteria.setdefault(name(row.person_id), []).extend(row.content)
    settled = [
        Decision(item, row.answers if row.kind == "decided" else None, row.reason)
        for item, row in sorted(decisions(session, panel.id).items())
    ]
    return Judged(given, rankings, settled, criteria)
