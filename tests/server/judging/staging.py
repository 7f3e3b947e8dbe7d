"""A season with judges who can sign in, panels of every kind, and secrets planted in what judges must not see."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

from PIL import Image
from sqlalchemy import select
from tests.server.accounts.conftest import PASSWORD

from basanite.campaign.office import Actor, Office
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.store.tables import Account, Judgement, PanelImage, RoundEnd
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import enrolment, setup
from basanite.campaign.work.panels.desk import judge_desk
from basanite.server.accounts import authentication, sessions
from basanite.testing import Season
from basanite.work.items import Block, item_of

SECRET = "Planted-System-Name"
KEY = "Planted-Right-Answer"
SHORT = 'round_size = 3\n[pay]\nper_item = 0.5\ncurrency = "EUR"\nfloor = 12\n'


def scheme(preset, more="", name="x"):
    """A scheme by its preset, with lines of its own."""
    return f'format = "basanite-judging/1"\nname = "{name}"\npreset = "{preset}"\n{more}'


def passage(number, text="", *, role="real", expected=None, lang="en", way="ltr", **facts):
    """A text to read; whose it is stands in its facts."""
    words = (
        text or f"Passage {number}. The river rose in the night, and the people of the valley carried what they had."
    )
    known = {"system": SECRET, "document": f"doc-{number}", "genre": "news", "topic": "rain"} | facts
    block = Block("text", words, "", lang, way)
    return item_of([block], known, new_id=random_id, role=role, expected=expected)


@dataclass
class Bench:
    """An office with a small season, and short ways to put judges to work."""

    office: Office
    season: Season
    people: dict[str, str] = field(default_factory=dict)

    def do(self, act, *args, **kwargs):
        with self.office.writing() as session:
            return act(session, self.office, *args, **kwargs)

    def person(self, name):
        """Somebody with a password, who is in no team."""
        if name not in self.people:
            with self.office.writing() as session:
                made = add_person(session, self.office, Newcomer(name=name.title(), mail=f"{name}@example.org"))
                account = session.get_one(Account, made.id)
                account.password = authentication.hash_password(self.office.settings.accounts, PASSWORD)
                account.confirmed = self.office.clock()
                self.people[name] = made.id
        return self.people[name]

    def panel(self, text, items, judges, *, name, opened=True):
        """A panel with items and judges (`name` or `name:group`); gives its id."""
        eva = self.season.as_eva
        made = self.do(setup.create, eva, self.season.campaign_id, setup.NewPanel(text, name=name))
        self.do(setup.add_items, eva, made.id, items)
        for judge in judges:
            who, _, group = judge.partition(":")
            self.do(enrolment.enrol, eva, made.id, self.person(who), group=group or "judge")
        if opened:
            self.do(setup.open_panel, eva, made.id)
        return made.id

    def begin(self, panel, judge):
        """Consent and declare."""
        actor = Actor(self.person(judge))
        with self.office.reading() as session:
            version = judge_desk(session, self.office, panel, actor.id).scheme.consent.version
        self.do(enrolment.consent, actor, panel, version)
        self.do(enrolment.declare, actor, panel)
        return actor

    def ready(self, text, items, judge, *, name):
        """A panel with one judge who has consented and declared."""
        panel = self.panel(text, items, [judge], name=name)
        self.begin(panel, judge.partition(":")[0])
        return panel

    def desk(self, panel, judge):
        with self.office.reading() as session:
            return judge_desk(session, self.office, panel, self.person(judge))

    def cookie(self, judge, *, strong=False):
        """A session of a judge: what its cookie is called and holds."""
        who = self.person(judge)  # a transaction of its own, before the next one begins
        with self.office.writing() as session:
            held = sessions.start(session, self.office, who, strong=strong)
        return sessions.cookie_name(self.office), held

    def judgements(self, panel):
        """Everything that was said, in order."""
        with self.office.reading() as session:
            rows = session.scalars(select(Judgement).where(Judgement.panel_id == panel))
            return sorted(rows, key=lambda row: (row.at, row.number))

    def ends(self, panel, kind):
        with self.office.reading() as session:
            wanted = select(RoundEnd).where(RoundEnd.panel_id == panel, RoundEnd.kind == kind)
            return list(session.scalars(wanted.order_by(RoundEnd.round)))

    def image(self, panel):
        """A picture on a panel, under a random id."""
        held = io.BytesIO()
        Image.new("RGB", (320, 120), "white").save(held, "PNG")
        with self.office.writing() as session:
            digest = self.office.files.put(held.getvalue()).digest
            row = PanelImage(panel_id=panel, source=random_id(), digest=digest, media="image/png")
            row.width, row.height, row.added = 320, 120, self.office.clock()
            session.add(row)
            session.flush()
            return row.id

    def address(self, name, rest=""):
        return f"/campaigns/{self.season.slug}/judging/{name}{rest}"
