"""A report from scratch to gold, in a browser: by mouse, by keyboard alone, adjudicated, and out as RDF.

Nothing is done but what a person does: mouse, keys, buttons. What came of it is read from the server and its files.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from dataclasses import replace

import pytest
import sqlalchemy as sql
from tests.server.annotating.staging import package_with, saved, select

from basanite.campaign.actions import references
from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.jobs import comparison, stages
from basanite.campaign.model.plan import Declared
from basanite.campaign.results.facts import adopted_results, content
from basanite.campaign.store.tables import BatchItem
from basanite.campaign.work.annotation import outcome

pytestmark = pytest.mark.browser
GAME = (
    "PITTSBURGH - The Jets fell to the Steelers, 20-17, in overtime on Jan. 15, 2005.\n\n"
    "Two touchdowns on returns were all that New York had. Pittsburgh won the game with a field goal.\n"
)
"""Thirty-some words with everything that the form asks for."""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return package_with(tmp_path_factory.mktemp("package"), game=GAME)


@pytest.fixture(scope="module")
def project(stage, package):
    return stage.project(package, name="gold", names=("game",))


def column(tab, number):
    return tab.get_by_role("region", name=f"Team {number}")


def point(text, words, nth=0):
    """Where words stand, in code points."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(words, at + 1)
    return at, at + len(words)


def spans(state, category, slot="mention"):
    return sorted(mention.parts for one in state.of(category) for mention in one.mentions.get(slot, ()))


def marked(words, nth=0):
    return (point(GAME, words, nth),)


@pytest.mark.req("R-15", "R-16", "R-14")
def test_a_report_is_annotated_from_scratch_with_the_mouse(stage, project, visit):
    task = stage.task("nora", project, "game")
    tab = visit("nora")
    tab.goto(f"{stage.address}/campaigns/small/annotate")
    tab.get_by_role("link", name="game", exact=True).click()
    tab.get_by_role("button", name="Team", exact=False).first.wait_for()
    assert "1 of 1" in tab.inner_text(".crumb")

    select(tab, "The Jets")
    tab.get_by_role("toolbar").get_by_role("button", name="Team t").click()
    assert column(tab, 1).get_by_role("combobox", name="Team", exact=True).input_value() == "NewYorkJets", (
        "the words name one choice"
    )
    select(tab, "17")
    tab.get_by_role("toolbar").get_by_role("button", name="Final score").click()
    select(tab, "fell")
    column(tab, 1).get_by_role("button", name="Use selection for Status: Words").click()
    column(tab, 1).get_by_label("lost").check()

    select(tab, "the Steelers")
    column(tab, 2).get_by_role("button", name="Use selection for Team: Words").click()
    select(tab, "20")
    tab.keyboard.press("s")
    select(tab, "won")
    tab.keyboard.press("w")
    tab.keyboard.press("w")  # what it says: won
    select(tab, "a field goal")
    tab.keyboard.press("e")
    tab.keyboard.press("f")
    tab.keyboard.press("1")

    select(tab, "in overtime")
    tab.keyboard.press("o")
    saved(tab)
    state = stage.state(task)
    assert spans(state, "Team") == [marked("The Jets"), marked("the Steelers")]
    assert spans(state, "Score") == [marked("20"), marked("17")]
    assert sorted(one.fields["value"] for one in state.of("Score")) == ["17", "20"]
    assert sorted(one.fields["value"] for one in state.of("Status")) == ["lost", "won"]
    (event,) = state.of("Event")
    assert dict(event.fields) == {"type": "FG", "count": "1"}
    assert state.idle == {}

    follows_and_contradicts(tab)
    assert not tab.complaints, tab.complaints


def follows_and_contradicts(tab):
    """Overtime leads to five periods; four periods contradict it, beside the field, with the derivation."""
    if not tab.get_by_role("radio", name="Yes").is_checked():
        tab.get_by_role("radio", name="Yes").check()
    saved(tab)
    tab.locator(".review > summary").click()
    tab.locator(".follows", has_text="number of periods 5").wait_for()
    tab.get_by_role("textbox", name="Periods").fill("4")
    tab.keyboard.press("Tab")
    beside = tab.get_by_role("region", name="Periods").locator(".contradiction")
    beside.wait_for()
    assert "A statement of overtime play contradicts one of 4 periods or fewer." in beside.inner_text()
    beside.get_by_text("Why?").click()
    assert "Periods" in beside.inner_text() or "periods" in beside.inner_text()
    tab.keyboard.press("F8")
    assert "Press F8 again" in tab.inner_text("#told"), "a contradiction is pointed at before the end"
    tab.get_by_role("textbox", name="Periods").fill("")
    tab.keyboard.press("Tab")
    beside.wait_for(state="detached")
    saved(tab)
    tab.keyboard.press("F8")
    tab.wait_for_url("**/annotate")
    assert "All texts are done" in tab.inner_text("main")


def stepped(tab, words, nth=0):
    """Select words by keys alone: from the beginning of the text, with arrows and Shift."""
    start, end = point(GAME, words, nth)
    lines = GAME[:start].count("\n")
    tab.keyboard.press("Control+Home")
    ahead = start - lines  # the end of a line is no step of its own
    for _ in range(ahead + lines):
        tab.keyboard.press("ArrowRight")
    for _ in range(end - start):
        tab.keyboard.press("Shift+ArrowRight")
    chosen = tab.evaluate("getSelection().toString()")
    assert chosen == words, f"{chosen!r} is selected, not {words!r}"


@pytest.mark.slow
@pytest.mark.req("R-15", "P-33")
def test_the_second_annotator_needs_no_mouse_and_sees_nothing_of_the_first(stage, project, visit):
    task = stage.task("paul", project, "game")
    tab = visit("paul")
    tab.goto(f"{stage.address}/campaigns/small/annotate")
    for _ in range(60):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.textContent") == "Continue":
            break
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**/annotate/{task}")
    tab.locator("#palette button").first.wait_for()
    assert tab.locator(".mark").count() == 0, "the first annotator's work is not to be seen"
    assert stage.task("nora", project, "game") not in tab.content()

    tab.keyboard.press("F6")
    assert tab.evaluate("document.activeElement.id") == "text"
    stepped(tab, "The Jets")
    tab.keyboard.press("t")
    stepped(tab, "17")
    tab.keyboard.press("s")
    stepped(tab, "fell")
    tab.keyboard.press("w")
    tab.keyboard.press("l")
    tab.keyboard.press("2")
    stepped(tab, "Steelers")  # without the article: a disagreement
    tab.keyboard.press("t")
    stepped(tab, "20")
    tab.keyboard.press("s")
    stepped(tab, "won")
    tab.keyboard.press("w")
    tab.keyboard.press("w")
    stepped(tab, "field goal")
    tab.keyboard.press("e")
    tab.keyboard.press("f")
    tab.keyboard.press("1")
    tab.keyboard.press("<")  # shorter by a word, and longer again
    tab.keyboard.press(">")
    stepped(tab, "in overtime")
    tab.keyboard.press("o")
    tab.keyboard.press("Control+z")
    tab.keyboard.press("Control+Shift+z")
    saved(tab)
    state = stage.state(task)
    assert spans(state, "Team") == [marked("The Jets"), marked("Steelers")]
    assert spans(state, "Event") == [marked("field goal")]
    assert spans(state, "Overtime") == [marked("in overtime")]
    assert sorted(one.fields["value"] for one in state.of("Status")) == ["lost", "won"]
    tab.keyboard.press("F8")
    tab.wait_for_url("**/annotate")
    assert not tab.complaints, tab.complaints


@pytest.mark.slow
@pytest.mark.req("R-15", "X-4")
def test_annotators_see_neither_each_others_work_nor_the_adjudication(stage, project, visit):
    theirs = stage.task("nora", project, "game")
    tab = visit("paul")
    for path in (f"/annotate/{theirs}", f"/annotate/{theirs}/events", f"/annotate/{theirs}/search?q=a"):
        assert tab.request.get(f"{stage.address}/campaigns/small{path}").status == 404
    for path in ("/annotate/decide", "/organise/annotation", f"/organise/annotation/{project}"):
        assert tab.request.get(f"{stage.address}/campaigns/small{path}").status in (401, 403)
    tab.goto(f"{stage.address}/campaigns/small/annotate")
    assert "Nora" not in tab.content()


@pytest.mark.slow
@pytest.mark.req("R-15")
def test_disagreements_are_decided_side_by_side_and_everything_else_at_once(stage, project, visit):
    tab = visit("rita")
    tab.goto(f"{stage.address}/campaigns/small/annotate")
    tab.get_by_role("link", name="Adjudicate disagreements").click()
    tab.get_by_role("link", name="game", exact=True).click()
    assert "Nora" not in tab.content(), "blind to who said what"
    assert "Paul" not in tab.content()
    tab.locator(".mark").first.wait_for()

    with tab.expect_navigation():  # to the same address, which it would be a mistake to wait for
        tab.keyboard.press("u")
    tab.locator(".case.current").wait_for()
    case = tab.locator(".case", has_text="the Steelers").first
    assert case.locator(".differs").count() >= 2
    case.get_by_label("Reason").select_option("guidelines")
    with tab.expect_navigation():
        case.get_by_role("button", name="Choose").nth(fullest(case)).click()
    decided_by_keys(tab)
    tab.get_by_role("button", name="Finish").wait_for()
    tab.keyboard.press("F8")
    tab.wait_for_url("**/annotate/decide")
    assert "adjudicated" in tab.inner_text("main")
    assert not tab.complaints, tab.complaints


def fullest(case):
    """The number of the side that says most."""
    said = case.locator(".side").all_inner_texts()
    return max(range(len(said)), key=lambda at: (len(said[at]), -at))


def decided_by_keys(tab):
    """Take all of what is alike, and of every case that is left the side that says most."""
    for _ in range(30):
        tab.wait_for_load_state()
        if tab.locator("#unanimous button").count():
            with tab.expect_navigation():
                tab.keyboard.press("u")
        elif tab.locator(".case.current").count():
            key = fullest(tab.locator(".case.current")) + 1
            with tab.expect_navigation():
                tab.keyboard.press(str(key))
        else:
            return
    raise AssertionError("there are always more cases")


@pytest.mark.slow
@pytest.mark.req("R-15")
def test_a_case_can_be_opened_again_and_given_another_reading_or_none(stage, project, visit):
    tab = visit("rita")
    tab.goto(f"{stage.address}/campaigns/small/annotate/decide")
    tab.get_by_role("link", name="game", exact=True).click()
    tab.get_by_label("Reason for reopening").fill("one more look")
    with tab.expect_navigation():
        tab.get_by_role("button", name="Reopen").click()
    tab.locator("summary", has_text="decision").first.click()
    tab.get_by_role("button", name="Reopen Scoring events").first.click()
    case = tab.locator(".case.current")
    case.wait_for()
    tab.keyboard.press("e")
    case.get_by_label("Count").fill("2")
    with tab.expect_navigation():
        case.get_by_role("button", name="Use this reading").click()
    tab.locator("summary", has_text="decision").first.click()
    tab.locator("li", has_text="Scoring events").get_by_text("other reading").wait_for()
    tab.get_by_role("button", name="Reopen Scoring events").first.click()
    tab.locator(".case.current").wait_for()
    with tab.expect_navigation():
        tab.keyboard.press("0")
    tab.locator("summary", has_text="decision").first.click()
    tab.locator("li", has_text="Scoring events").get_by_text("none of these").wait_for()
    tab.get_by_role("button", name="Finish").click()
    tab.wait_for_url("**/annotate/decide")


@pytest.mark.slow
@pytest.mark.req("R-15", "R-17")
def test_the_gold_grows_and_everything_comes_out_as_rdf(stage, project, visit):
    tab = visit("eva")
    tab.goto(f"{stage.address}/campaigns/small/organise/annotation")
    tab.get_by_role("link", name="NFL scoring").click()
    tab.get_by_label("Reason for the new version").fill("the first texts are adjudicated")
    with tab.expect_download() as package:
        tab.get_by_role("button", name="Download package with new gold answers").click()
    with tarfile.open(package.value.path()) as archive:
        names = [name for name in archive.getnames() if name.startswith("gold/")]
        assert sorted(names) == ["gold/v1.ndjson", "gold/v2.ndjson", "gold/v3.ndjson"]
        before, after = (archive.extractfile(f"gold/v{n}.ndjson").read().splitlines() for n in (2, 3))
    fresh = [json.loads(line) for line in after if line not in before]
    assert set(before) <= set(after), "an answer of the gold stays"
    assert {one["document"] for one in fresh} == {"game"}
    periods = next(one for one in fresh if one["query"] == "periods")
    assert periods["kind"] == "inferred", "what the rules lead to is among it"
    assert "5" in str(periods["answer"])

    tab.get_by_label("Format").select_option("turtle")
    with tab.expect_download() as rdf:
        tab.get_by_role("button", name="Download", exact=True).click()
    read_with_rdflib(rdf.value.path())
    assert not tab.complaints, tab.complaints


def read_with_rdflib(path):
    import rdflib

    graph = rdflib.Graph()
    graph.parse(io.BytesIO(path.read_bytes()), format="turtle")
    nfl = rdflib.Namespace("https://nfl.example/scoring#")
    said = {(str(p), str(o)) for _, p, o in graph.triples((None, rdflib.RDF.predicate, None))}
    assert any(str(nfl.gameLoser) in pair for pair in said)
    exact = {str(one) for one in graph.objects(None, rdflib.URIRef("http://www.w3.org/ns/oa#exact"))}
    assert {"The Jets", "the Steelers", "fell", "won"} <= exact


@pytest.mark.slow
@pytest.mark.req("R-15")
def test_agreement_is_shown_per_category_and_text_with_spans_apart_from_labels(stage, project, visit):
    tab = visit("eva")
    tab.goto(f"{stage.address}/campaigns/small/organise/annotation/{project}/agreement")
    shown = tab.inner_text("main")
    for words in (
        "Spans",
        "Labels and attributes",
        "Results by text",
        "Team",
        "Status.value",
        "game",
    ):
        assert words in shown


@pytest.mark.slow
@pytest.mark.req("R-17", "R-21")
def test_a_run_that_was_handed_in_before_is_scored_again_with_the_grown_gold(stage, project, visit, package, tmp_path):
    answers = found_too(stage, project, tmp_path)
    run, before = handed_in(stage, with_little_gold(package, tmp_path), answers)
    tab = visit("eva")
    tab.goto(f"{stage.address}/campaigns/small/organise/annotation")
    tab.get_by_role("link", name="NFL scoring").click()
    tab.get_by_label("For", exact=True).select_option("reading · DEV · 1A · QUERY1")
    tab.get_by_label("Reason for this version of the reference").fill("a report more")
    tab.get_by_role("button", name="Create version").click()
    tab.wait_for_url("**/rescoring?reference=*")
    tab.get_by_label("Reason", exact=True).fill("the gold has grown")
    tab.get_by_role("button", name="Compute preview").click()
    tab.get_by_text("being computed").first.wait_for()
    with stage.office.reading() as session:
        item = session.scalars(sql.select(BatchItem.id)).one()
    comparison.score_item(stage.office, item)
    tab.goto(f"{stage.address}/campaigns/small/organise/rescoring")
    tab.get_by_text("to be reviewed").first.wait_for()
    tab.get_by_role("link", name="reading · DEV · 1A · QUERY1").click()
    tab.get_by_text("Before and after").wait_for()
    assert value_of(stage, run) == before, "a preview changes nothing"
    tab.get_by_role("link", name="Apply …").click()
    tab.get_by_role("button", name="Apply").click()
    tab.get_by_text("new results are now active").wait_for()
    assert value_of(stage, run) > before, "what nobody had marked was right"
    assert not tab.complaints, tab.complaints


def found_too(stage, project, folder):
    """Answers of a system that has found in the report what the annotators found, and the rules derived."""
    with stage.office.writing() as session:
        grown = outcome.grow(session, stage.office, stage.season.as_eva, project, folder / "package", reason="to look")
    lines = map(json.loads, (folder / "package" / "gold" / f"{grown.version}.ndjson").read_text().splitlines())
    path = folder / "run.ndjson"
    kept = ("query", "document", "answer", "provenance")
    said = [{name: line[name] for name in kept if name in line} for line in lines if line["document"] == "game"]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in said))
    return path


def with_little_gold(package, folder):
    """The package with one line of what its gold will grow to: against gold that covers nothing no run is scored."""
    newest = sorted((folder / "package" / "gold").glob("v*.ndjson"))[-1]
    line = next(line for line in newest.read_text().splitlines() if json.loads(line)["document"] == "game")
    made = shutil.copytree(package, folder / "little")
    gold = sorted((made / "gold").glob("v*.ndjson"))[-1]
    gold.write_text(f"{gold.read_text()}{line}\n")
    return made


def handed_in(stage, package, answers):
    """A run of Ada's team, scored against the package as it was; gives its id and its value."""
    office, season = stage.office, stage.season
    material = references.take_in(office, references.Paths((package,)))
    said = Declared("reading", "one", type="contrastive", language="1A", queryset="QUERY1", dataset=("DEV",))
    with office.writing() as session:
        place = references.Place("reading", "DEV", "1A", "QUERY1")
        references.add(session, office, season.as_eva, season.campaign_id, references.NewVersion(place, material))
    stored = office.files.take(answers)
    with office.writing() as session:
        row = accept(session, office, season.as_ada, Arrival(season.alpha, replace(said, name=answers.name), stored))
    stages.score(office, row.id, stages.validate(office, row.id)["result"])
    return row.id, value_of(stage, row.id)


def value_of(stage, run):
    """The value of a run as it holds now."""
    with stage.office.reading() as session:
        return content(stage.office, adopted_results(session, [run])[run])["values"]["f"]["value"]
