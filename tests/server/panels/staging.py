"""Panels that organisers and adjudicators look at: judged for real, with disagreements that are known beforehand."""

from __future__ import annotations

from tests.server.judging.staging import Bench as JudgesBench
from tests.server.judging.staging import passage, scheme

from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import judge_work
from basanite.server.accounts import sessions
from basanite.work.items import Block, item_of

SYSTEM = "Planted-System-Name"
STARS = {"ada": (5, 4, 3, 2, 1), "ben": (5, 5, 3, 1, 1), "cleo": (4, 4, 2, 2, 2)}
"""What each judge says of the five passages."""
VERDICTS = {"ada": "YYNNY", "ben": "YNNYY"}
"""What two annotators say of five documents: they differ on the second and the fourth."""
PAY = '[pay]\nper_item = 0.05\ncurrency = "EUR"\nfloor = 12\n'
CONSENT = '[consent]\nversion = "7"\ntext = "We time you."\n'
READABILITY = scheme("readability", f"round_size = 5\n{PAY}{CONSENT}")
KEY = scheme("key-query")


def documents(count=5, **more):
    """Pairs of a query and a document, numbered in their facts; what judges see tells nothing."""
    return [
        item_of(
            [Block("query", "rain in the valley"), Block("document", more.get("text", f"Document number {number}."))],
            {"query": "query1", "document": f"MATERIAL_{number}", "system": SYSTEM},
            new_id=random_id,
        )
        for number in range(1, count + 1)
    ]


class Bench(JudgesBench):
    """The judges' bench with an adjudicator and an organiser beside it."""

    def adjudicator(self, name="zoe"):
        """Somebody who adjudicates and is no organiser."""
        who = self.person(name)
        self.do(
            grant,
            COMMAND,
            RoleGrant(person_id=who, role="adjudicator", campaign_id=self.season.campaign_id, reason="test"),
        )
        return who

    def eva(self):
        """The cookie of an organiser who gave a second factor."""
        with self.office.writing() as session:
            held = sessions.start(session, self.office, self.season.eva, strong=True)
        return sessions.cookie_name(self.office), held

    def judged(self, panel, judge, answers_of, **more):
        """Let a judge work to the end of the items; `answers_of` gives the answers for an item's number."""
        self.begin(panel, judge)
        numbers = self.numbers(panel)
        while (found := self.desk(panel, judge)).stage == "item":
            key = f"{judge}-{found.assignment}"
            given = {"key": key, "seconds": 20.0} | more
            answers = answers_of(numbers[found.assignment])
            self.do(
                judge_work.answer,
                Actor(self.person(judge)),
                panel,
                found.assignment,
                judge_work.Answer(answers, **given),
            )
        return found

    def numbers(self, panel):
        """The number of the item of each assignment, from 0."""
        from sqlalchemy import select

        from basanite.campaign.store.tables import Assignment, PanelItem

        with self.office.reading() as session:
            rows = session.execute(
                select(Assignment.id, PanelItem.number)
                .join(PanelItem, PanelItem.id == Assignment.item_id)
                .where(Assignment.panel_id == panel)
            )
            return {one: number - 1 for one, number in rows}

    def readability(self, name="stars", said=STARS):
        """A panel of novices whose stars are known."""
        panel = self.panel(
            READABILITY, [passage(number) for number in range(5)], [f"{who}:novice" for who in said], name=name
        )
        for who, stars in said.items():
            self.judged(panel, who, lambda number, stars=stars: {"rating": stars[number]})
        return panel

    def key(self, name="key", said=VERDICTS, items=None):
        """A double-marked key with two disagreements."""
        panel = self.panel(KEY, documents() if items is None else items, list(said), name=name)
        for who, marks in said.items():
            self.judged(
                panel,
                who,
                lambda number, who=who, marks=marks: {"relevant": marks[number], "reason": f"{who} {number}"},
            )
        return panel
