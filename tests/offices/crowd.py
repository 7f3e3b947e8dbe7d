"""A campaign with a crowd: each of many teams has one scored primary run of labels, and the board is open to all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from basanite.campaign.actions import references
from basanite.campaign.model.windows import board_summary
from basanite.campaign.results import boards
from basanite.campaign.store.tables import Adoption, Release, Result, Submission, Team
from basanite.testing import season, small_campaign_text

CLASSES = ("first", "second", "third")
SUBJECT = boards.Subject("dev", "classification")
OF = "dev|classification||"
SHARED = {
    "person_id": "system", "number": 1, "window": "dev", "task": "classification", "language": "", "dataset": "DEV",
    "queryset": "", "type": "primary", "track": "", "label": "one", "name": "labels.csv", "description": {},
    "door": "api", "standing": "on time", "state": "scored", "plan_version": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Crowd:
    """The campaign's id, and which items each team has right, `[teams, items]`."""

    campaign_id: str
    right: np.ndarray
    names: tuple[str, ...]


def campaign_text(settings):
    """The small campaign with one task, whose files are tables of labels."""
    text = small_campaign_text(sealed=False).replace('tasks = ["CLIR"]', 'tasks = ["classification"]')
    text = text.replace('querysets = ["QUERY1"]\n', "").replace('languages = ["1A"]\n', "")
    return text.replace('kind = "development"', f'kind = "development"\nsettings = {{ {settings} }}')


def answers_of(right, truth):
    """Labels that are right where they should be, and else those of the next class."""
    places = (truth + ~right) % len(CLASSES)
    return "id,label\n" + "".join(f"i{at:05},{CLASSES[place]}\n" for at, place in enumerate(places))


def fill(office, folder, teams, items, settings='primary = "accuracy", draws = 200', seed=1):
    """Put the campaign into an office; skills spread evenly, and items are hard for all or for none."""
    dice = np.random.default_rng(seed)
    truth, hard = dice.integers(0, len(CLASSES), items), dice.normal(size=items)
    skill = np.linspace(-0.3, 1.2, teams)[:, None]
    right = skill + 0.8 * hard + dice.normal(size=(teams, items)) > 0
    made = season(office, campaign_text(settings))
    key = folder / "key.csv"
    key.write_text(answers_of(np.ones(items, dtype=bool), truth))
    material = references.take_in(office, references.Paths((key,)))
    with office.writing() as session:
        place = references.Place("classification", "DEV")
        version = references.add(session, office, made.as_eva, made.campaign_id, references.NewVersion(place, material))
        reference, now = version.id, office.clock()
        names = tuple(f"Team {number:04}" for number in range(teams))
        for number, name in enumerate(names):
            content = answers_of(right[number], truth).encode()
            _add_run(session, office, made.campaign_id, (number, name, reference, float(right[number].mean())), content)
        for level in ("top", "details", "public"):
            facts = {"window": "dev", "level": level, "by": "system", "reason": "", "open_appeals": []}
            session.add(Release(campaign_id=made.campaign_id, seconded_by=None, at=now, **facts))
    return Crowd(made.campaign_id, right, names)


def _add_run(session, office, here, about, content):
    (number, name, reference, value), now = about, office.clock()
    called = {"name": name, "skeleton": name.lower().replace(" ", ""), "code": f"T{number:04}"}
    team = Team(campaign_id=here, pseudonym=f"p{number}", named_consent=now, made=now, made_by="system", **called)
    session.add(team)
    session.flush()
    stored = office.files.put(content)
    moments = {"started": now, "received": now, "state_at": now}
    run = Submission(campaign_id=here, team_id=team.id, size=len(content), sha256=stored.digest, **SHARED, **moments)
    session.add(run)
    session.flush()
    values = {"accuracy": {"value": value, "low": value - 0.05, "high": value + 0.05}}
    found = {"task": "classification", "primary": "accuracy", "values": values, "breakdowns": {}, "settings": {}}
    facts = {"figures": None, "settings": {}, "software": "x", "plan_version": 1, "at": now}
    result = Result(
        key=f"k{number}", submission_id=run.id, reference_id=reference, digest=f"{number:064x}", primary=value,
        board=board_summary(found), **facts,
    )  # fmt: skip
    session.add(result)
    session.flush()
    session.add(Adoption(submission_id=run.id, result_key=result.key, batch_id=None, at=now))
