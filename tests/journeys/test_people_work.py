"""The journeys of a judge, an annotator and an adjudicator, through doors only (D-5)."""

from __future__ import annotations

import re

import pytest
from tests.journeys.world import EXAMPLES, HOME, campaign_text, window_text
from tests.server.annotating.staging import saved, select

pytestmark = [pytest.mark.browser, pytest.mark.req("D-5")]
SEARCH = window_text("search", "Search in development data", "CLIR")
EASY = 'format = "basanite-judging/1"\nname = "easy"\npreset = "readability"\nround_size = 3\nbalance = []\n'
PASSAGES = """passage,text
p1,The river rose in the night. By morning the road was closed.
p2,"Notwithstanding prior assurances, the aforementioned remediation remains contingent upon ratification."
p3,We took the slow train. It stops at every village on the coast.
"""
KEY = 'format = "basanite-judging/1"\nname = "key"\npreset = "key-query"\n'
DOCUMENTS = """query,document
people who wait for a bus,Eleven of us stood under the shelter until the bus came.
people who wait for a bus,The city has bought forty electric buses.
"""


def heading(person, words):
    person.tab.get_by_role("heading", level=1, name=re.compile(f"^{words}")).wait_for()


def begin_judging(judge):
    """Agree to what one has read, and say which languages one reads."""
    judge.press("I agree")
    judge.tab.get_by_label("Languages that you read well").fill("en")
    judge.tab.locator("main form button").first.click()


@pytest.mark.req("R-2", "P-22")
def test_a_judge_reads_passages_puts_them_in_order_and_says_why(world):
    world.begin(campaign_text(SEARCH))
    (world.folder / "easy.toml").write_text(EASY)
    (world.folder / "passages.csv").write_text(PASSAGES)
    with world.serving():
        jana = world.member("jana@example.org", "Jana")
        world.admin("panel", "create", "easy.toml", "--name", "easy")
        world.admin("panel", "items", "easy", "passages.csv")
        world.admin("panel", "enrol", "easy", "jana@example.org", "--group", "expert")
        world.admin("panel", "open", "easy")
        jana.open(world.link("jana@example.org", "judging/"))
        begin_judging(jana)
        for number in (1, 2, 3):
            heading(jana, f"Item {number} of 3")
            jana.tab.keyboard.press(str(5 - number))
            jana.tab.keyboard.press("Enter")
        heading(jana, "Rank the 3 items")
        jana.press("Save ranking")
        heading(jana, "What were your criteria")
        jana.tab.get_by_label("Your criteria").fill("short sentences")
        jana.tab.keyboard.press("Control+Enter")
        jana.sees(re.compile("done|Thank"))
    told = world.admin("panel", "progress", "easy")
    assert "3 of 3 judgments" in told, told
    world.admin("panel", "files", "easy", "--out", "judged")
    answers = (world.folder / "judged" / "answers.csv").read_text()
    assert len(answers.splitlines()) >= 4, answers


@pytest.mark.req("M88")
def test_an_adjudicator_decides_where_two_judges_differ(world):
    world.begin(campaign_text(SEARCH))
    (world.folder / "key.toml").write_text(KEY)
    (world.folder / "documents.csv").write_text(DOCUMENTS)
    with world.serving():
        judges = [world.member(f"{name}@example.org", name.title()) for name in ("ada", "ben")]
        world.admin("panel", "create", "key.toml", "--name", "key")
        world.admin("panel", "items", "key", "documents.csv")
        world.admin("panel", "enrol", "key", *(judge.mail for judge in judges))
        world.admin("panel", "open", "key")
        for judge, keys in zip(judges, ("rr", "rn"), strict=True):
            judge.open(f"{HOME}/judging").follow("Read instructions and consent")
            begin_judging(judge)
            for number, key in enumerate(keys, 1):
                heading(judge, f"Item {number} of 2")
                judge.tab.keyboard.press(key)
                judge.tab.keyboard.press("Enter")
            heading(judge, "(?!Item)")
        zoe = world.member("zoe@example.org", "Zoe", "adjudicator")
        zoe.open(f"{HOME}/adjudicate").follow("1 case to decide").follow("Start with the first item")
        assert {"Relevant", "Not relevant"} == {
            said.strip() for said in zoe.tab.locator(".voice .said").all_inner_texts()
        }
        zoe.tab.keyboard.press("1")
        zoe.tab.get_by_text("the instructions say so").click()
        zoe.press("Save and open next case").sees("There are no other open cases")
        world.admin("panel", "close", "key")
    world.admin("panel", "files", "key", "--out", "judged")
    written = "".join(path.read_text() for path in (world.folder / "judged").rglob("*") if path.is_file())
    assert re.search(r",Y,,adjudicator,|,N,,adjudicator,", written), written


@pytest.mark.req("R-15")
def test_an_annotator_marks_a_report_and_it_comes_out_in_the_layout_of_brat(world):
    world.begin(campaign_text(SEARCH))
    package = EXAMPLES / "reading" / "nfl"
    with world.serving():
        anna, axel = (world.member(f"{name}@example.org", name.title()) for name in ("anna", "axel"))
        config = EXAMPLES / "annotation" / "nfl-scoring.yaml"
        world.admin("annotation", "create", package, "--config", config, "--name", "games")
        world.admin("annotation", "assign", "games", "--person", anna.mail, "--person", axel.mail, "--part", "train")
        anna.open(world.link("anna@example.org", "annotate"))
        anna.tab.locator("main a[href*='/annotate/']").first.click()
        anna.tab.get_by_role("toolbar").wait_for()
        words = re.search(r"\b[A-Za-z]{4,}\b", anna.tab.inner_text("#text"))[0]  # which text comes first is chance
        select(anna.tab, words)
        anna.tab.get_by_role("toolbar").get_by_role("button", name="Team t").click()
        saved(anna.tab)
        here = anna.tab.url
        anna.tab.keyboard.press("F8")
        anna.tab.wait_for_url(lambda there: there != here)
    world.admin("annotation", "export", "games", "--to", "brat", "--which", "annotators", "--out", "as-brat")
    marks = [path.read_text() for path in (world.folder / "as-brat").rglob("*.ann")]
    assert any(words in text for text in marks), marks
