"""A server on a small season with an annotation project: Nora, Paul and Quin annotate, Rita adjudicates."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.server.accounts.conftest import PASSWORD, add_user
from tests.server.conftest import fresh_office
from tests.server.live import live

from basanite.campaign.office import Actor
from basanite.campaign.settings import Accounts
from basanite.campaign.store.tables import AnnotationTask
from basanite.campaign.work.annotation import assignment, setup
from basanite.reading.package.documents import new_sums, sums_path
from basanite.server.accounts import sessions
from basanite.testing import SetClock, season, small_campaign_text

CHEAP = Accounts(time_cost=1, memory_kib=64, lanes=1, tries="1000/minute", session_hours=20_000, idle_minutes=1_000_000)
EXAMPLES = Path(__file__).parents[3] / "examples"
NFL = EXAMPLES / "reading" / "nfl"
READING = """[[windows]]
id = "reading"
title = "Reading reports"
opens = "2018-01-01 00:00"
closes = "2018-03-31 24:00"
tasks = ["reading"]
dataset = ["DEV"]
querysets = ["QUERY1"]
languages = ["1A"]
quota = { count = 3, period = "week" }
feedback = "full"
kind = "development"

[windows.settings]
part = "train"
"""
"""A window for runs that read the reports which are annotated."""


@dataclass
class Stage:
    """An office, its people, and where its server can be reached now."""

    office: object
    season: object
    people: dict = field(default_factory=dict)
    address: str = ""

    @contextmanager
    def serving(self, port=0):
        """Serve until the block ends; may be begun again at the same port, which is a restart."""
        with live(self.office, port=port) as address:
            self.address = address
            yield self

    def project(self, package=NFL, config=None, *, name="", people=("nora", "paul"), names=(), part="train"):
        """A project of a package, with its texts given out."""
        text = (config or EXAMPLES / "annotation" / "nfl-scoring.yaml").read_text(encoding="utf-8")
        actor = Actor(self.season.eva)
        with self.office.writing() as session:
            made = setup.create_project(
                session, self.office, actor, self.season.campaign_id, setup.NewProject(package, text, name=name)
            )
            if people:
                persons = [self.people[one] for one in people]
                assignment.assign(
                    session, self.office, actor, made.id, persons, assignment.TextScope(names=names, part=part)
                )
            return made.id

    def task(self, who, project, document):
        """The task of somebody on a text."""
        from basanite.campaign.work.annotation.lookup import document_named

        with self.office.reading() as session:
            text = document_named(session, project, document).id
            asked = session.query(AnnotationTask).filter_by(document_id=text, person_id=self.people[who])
            return asked.one().id

    def events(self, task):
        """All events of a task, as the server holds them."""
        from basanite.campaign.work.annotation.annotator_work import task_events

        with self.office.reading() as session:
            return [one.event for one in task_events(session, session.get_one(AnnotationTask, task))]

    def state(self, task):
        """What the server thinks the events of a task come to."""
        from basanite.campaign.work.annotation.annotator_work import task_snapshot

        with self.office.reading() as session:
            return task_snapshot(session, self.office, session.get_one(AnnotationTask, task)).state

    def signed_in(self, context, who):
        """A tab of somebody who has signed in, with a second factor where one is needed."""
        with self.office.writing() as session:
            cookie = sessions.start(session, self.office, self.people[who], strong=True)
        context.add_cookies([{"name": sessions.cookie_name(self.office), "value": cookie, "url": self.address}])
        return tab_of(context)


def tab_of(context):
    tab = context.new_page()
    tab.complaints = []
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on("console", lambda said: tab.complaints.append(said.text) if is_grave(said) else None)
    return tab


def is_grave(said):
    """An error on the console, but for a form that was refused: the browser calls that one, too."""
    return said.type == "error" and "status of 422" not in said.text


def staged(folder):
    """An office with a season and people who can annotate."""
    office = fresh_office(folder, SetClock(), accounts=CHEAP)
    made = Stage(office, season(office, small_campaign_text(more=READING)))
    names = ("nora", "paul", "quin", "rita")
    made.people = {name: add_user(office, name.title(), f"{name}@example.org", PASSWORD) for name in names}
    made.people["eva"] = made.season.eva
    with office.writing() as session:
        actor, campaign = Actor(made.season.eva), made.season.campaign_id
        assignment.enrol(session, office, actor, campaign, made.people["rita"], "adjudicator")
    return made


def package_with(folder, **texts):
    """The NFL package with further texts in its part `train`, each listed with its hash."""
    made = shutil.copytree(NFL, folder / "package")
    for name, text in texts.items():
        (made / "corpus" / "train" / f"{name}.txt").write_bytes(text.encode())
    with sums_path(made, "train").open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in new_sums(made, "train"))
    return made


def place_of(tab, words, *, nth=0, inside="#text"):
    """Where words stand on the screen: left, right and the middle of their height. Only looks; nothing is done."""
    script = """([inside, words, nth]) => {
      const walker = document.createTreeWalker(document.querySelector(inside), NodeFilter.SHOW_TEXT);
      const nodes = [];
      let text = "";
      while (walker.nextNode()) { nodes.push([text.length, walker.currentNode]); text += walker.currentNode.data; }
      let at = -1;
      for (let found = 0; found <= nth; found += 1) at = text.indexOf(words, at + 1);
      if (at < 0) return null;
      const place = (unit, ending) => {
        const [start, node] = nodes.findLast(([from]) => ending ? from < unit : from <= unit);
        return [node, unit - start];
      };
      const range = document.createRange();
      range.setStart(...place(at, false));
      range.setEnd(...place(at + words.length, true));
      range.startContainer.parentElement.scrollIntoView({ block: "nearest" });
      const boxes = [...range.getClientRects()].filter((box) => box.width > 0), last = boxes.at(-1);
      const rtl = getComputedStyle(range.startContainer.parentElement).direction === "rtl";
      const first = boxes[0], ends = rtl ? [first.right, last.left] : [first.left, last.right];
      return [ends[0], first.top + first.height / 2, ends[1], last.top + last.height / 2];
    }"""
    found = tab.evaluate(script, [inside, words, nth])
    assert found, f"{words!r} is not on the page"
    return found


def select(tab, words, *, nth=0):
    """Drag the mouse over words of the text."""
    left, top, right, bottom = place_of(tab, words, nth=nth)
    inward = 0.6 if left < right else -0.6
    tab.mouse.move(left + inward, top)
    tab.mouse.down()
    tab.mouse.move((left + right) / 2, bottom)
    tab.mouse.move(right - inward, bottom)
    tab.mouse.up()


def saved(tab):
    """Wait until the page says that everything is saved."""
    tab.locator("#status.saved").wait_for()
    return tab
