"""A panel in a small season: judges who are in no team, passages to read, and the means to work through them."""

import pytest
from tests.offices.prepared import small_season

from basanite.campaign.office import Actor
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import enrolment, judge_work, setup
from basanite.campaign.work.panels.desk import judge_desk
from basanite.work.items import Block, item_of

STARS = 'format = "basanite-judging/1"\nname = "stars"\npreset = "readability"\n'
VERDICTS = """format = "basanite-judging/1"
name = "verdicts"
preset = "relevance"
shows = ["query", "text"]
per_item = {per_item}
keep_apart = []
break_every = 0
{more}
[checks]
share = {checks}
[adjudicate]
when = "{when}"
[pay]
per_item = 0.5
currency = "EUR"
floor = 12.0
[consent]
version = "{consent}"
text = "You may stop at any time."
"""


def verdict_scheme(*, per_item=2, checks=0.0, consent="1", more=""):
    """A scheme that asks whether a summary is relevant, without pictures."""
    when = "differ" if per_item > 1 else "never"
    return VERDICTS.format(when=when, per_item=per_item, checks=checks, consent=consent, more=more)


def passages(count, **facts):
    """So many different texts."""
    return [
        item_of([Block("text", f"Passage {number} is read.")], {"passage": f"p{number}", **facts}, new_id=random_id)
        for number in range(count)
    ]


def pairs(count, start=0, **facts):
    """So many queries with a summary each."""
    return [pair(number, **facts) for number in range(start, start + count)]


def pair(number, role="real", expected=None, **facts):
    """One query with its summary."""
    blocks = [Block("query", f"query {number}"), Block("text", f"Summary {number}.")]
    known = {"query": f"query{number}", "document": f"MATERIAL_BASE-1A_{number:08}", **facts}
    return item_of(blocks, known, new_id=random_id, role=role, expected=expected)


class Bench:
    """A panel with judges, and short ways to act on it."""

    def __init__(self, office, made):
        self.office, self.season, self.people = office, made, {}

    def do(self, act, *args, **kwargs):
        """Do an act in a transaction of its own."""
        with self.office.writing() as session:
            return act(session, self.office, *args, **kwargs)

    def ask(self, question, *args, **kwargs):
        """Ask a question that needs the office."""
        with self.office.reading() as session:
            return question(session, self.office, *args, **kwargs)

    def person(self, name):
        """The id of a person, who is in no team."""
        if name not in self.people:
            with self.office.writing() as session:
                mail = f"{name}@judges.example"
                self.people[name] = add_person(session, self.office, Newcomer(name=name.title(), mail=mail)).id
        return self.people[name]

    def actor(self, name):
        """The person, acting."""
        return Actor(self.person(name))

    def panel(self, text=STARS, items=None, judges=(), *, name="first", opened=True):
        """A panel with items and judges (`name` or `name:group`), opened; gives its id."""
        eva = self.season.as_eva
        made = self.do(setup.create, eva, self.season.campaign_id, setup.NewPanel(text, name=name))
        self.do(setup.add_items, eva, made.id, passages(10) if items is None else items)
        for judge in judges:
            judge, _, group = judge.partition(":")
            self.do(enrolment.enrol, eva, made.id, self.person(judge), group=group or "judge")
        if opened:
            self.do(setup.open_panel, eva, made.id)
        return made.id

    def begin(self, panel, judge, **declared):
        """Consent and declare, as a judge does first."""
        actor = self.actor(judge)
        self.do(enrolment.consent, actor, panel, self.desk(panel, judge).scheme.consent.version)
        self.do(enrolment.declare, actor, panel, **declared)
        return actor

    def desk(self, panel, judge):
        """What a judge has to do now."""
        return self.ask(judge_desk, panel, self.person(judge))

    def say(self, panel, judge, answers, **more):
        """Answer what is on the desk."""
        found = self.desk(panel, judge)
        given = {"key": f"key-{found.assignment}", "seconds": 3.0} | more
        return self.do(
            judge_work.answer, self.actor(judge), panel, found.assignment, judge_work.Answer(answers, **given)
        )

    def say_all(self, panel, judge, answer):
        """Answer everything that is left, each item by a function of its blocks; gives how many."""
        count = 0
        while (found := self.desk(panel, judge)).stage in ("item", "training", "break"):
            if found.stage == "break" or found.feedback is not None:
                self.do(judge_work.go_on, self.actor(judge), panel)
                continue
            self.say(panel, judge, answer(found))
            count += 1
        return count


@pytest.fixture
def bench(sqlite_office):
    """On SQLite, for what no database decides."""
    return Bench(sqlite_office, small_season(sqlite_office))


@pytest.fixture
def both(office, small):
    """On each of the two databases."""
    return Bench(office, small)
