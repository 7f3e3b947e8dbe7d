"""The reasoner looks at every save: contradictions and gaps appear at the field that caused them (R-16)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from tests.work.annotation.corpus import ROOT, Annotator, by_document, nfl_config, nfl_package
from tests.work.annotation.test_events import LOGS
from tests.work.annotation.test_mapping import Form, document, paper_form

from basanite.problems import Findings
from basanite.reading.package import read_package
from basanite.work.annotation.config import read_config
from basanite.work.annotation.migration import read_records
from basanite.work.annotation.replay import receive, replay
from basanite.work.annotation.review import LIVE, reasoner_of, review

CONFIG, PACKAGE = nfl_config(), nfl_package()
REASONER = reasoner_of(PACKAGE)
FEW = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def reviewed(form, config=CONFIG, theory=REASONER):
    received = receive(config, (), form.events, length=len(form.text))
    assert not received.refused
    return review(config, theory, document(form.text), received.state)


def places(several):
    return {(place.object, place.field) for place in several}


def test_overtime_with_four_periods_is_told_at_both_fields_with_its_derivation():
    found = reviewed(paper_form().fill("g/Periods", value="4"))
    (clash,) = found.contradictions
    assert clash.message == "A statement of overtime play contradicts one of 4 periods or fewer."
    assert places(clash.places) == {("g/Overtime", "value"), ("g/Periods", "value")}
    assert set(clash.says) == {"Game: overtime true", "Game: number of periods 4"}
    assert clash.derivation["rule"] == "overtime-needs-five"
    assert clash.lines[0].startswith("game-paper-1 numberOfPeriods 4")
    assert "4 <= 4" in clash.lines[-1]


def test_a_contradiction_goes_away_with_what_caused_it():
    form = paper_form().fill("g/Periods", value="4")
    assert reviewed(form).contradictions
    assert not reviewed(form.fill("g/Periods", value="5")).contradictions
    assert not reviewed(paper_form()).contradictions


def test_overtime_alone_leads_to_five_periods_with_the_rule_that_says_so():
    found = reviewed(paper_form())
    (periods,) = [one for one in found.follows if "number of periods" in one.words]
    assert periods.words == "Game: number of periods 5"
    assert "overtime-default" in periods.lines[0]
    assert any("no statement matches" in line for line in periods.lines)


def test_a_contradiction_through_derived_statements_is_led_back_to_what_was_marked():
    form = paper_form().fill("j/Score", value="27")
    (clash,) = reviewed(form).contradictions
    assert clash.message == "No team wins with fewer points than the other."
    assert {("j/Score", "value"), ("p/Score", "value"), ("p/Status", "value")} <= places(clash.places)


def test_constraints_of_the_ontology_are_told_in_the_words_of_the_form():
    form = paper_form().fill("j/Status", value="won")
    clashes = {clash.rule: clash for clash in reviewed(form).contradictions}
    clash = clashes["ontology:too-many"]
    assert clash.message == "Game has 2 values of winner, wanted <= 1"
    assert places(clash.places) == {("j/Status", "value"), ("p/Status", "value")}
    assert all("nfl:" not in words for words in (clash.message, *clash.says))


def test_one_team_that_wins_and_loses_is_told_at_both_columns():
    form = paper_form().fill("p", name="NewYorkJets")
    clash = next(one for one in reviewed(form).contradictions if one.rule == "ontology:disjoint")
    assert clash.message == "New York Jets cannot be both winner and loser of Game"
    assert {("j/Status", "value"), ("p/Status", "value")} <= places(clash.places)


def test_what_is_missing_is_told_at_its_field():
    form = Form().make("g", "Game").make("t", "Team", "g").fill("t", name="NewYorkJets").mark("t", "the Jets")
    form.make("r", "Event", "t").fill("r", type="TD").mark("r", "two touchdowns")
    gaps = {(gap.place.object, gap.place.field): gap for gap in reviewed(form).gaps}
    assert gaps["g", ""].message == "1 Team in Game, at least 2"
    assert gaps["r", "count"].kind == "missing"
    assert gaps["t/Score", "value"].message == "New York Jets: number of points is not stated"
    form.fill("t/Score", value="seventeen")
    gaps = {(gap.place.object, gap.place.field): gap for gap in reviewed(form).gaps}
    assert (gaps["t/Score", "value"].kind, gaps["t/Score", "value"].fix) == ("value", "write a whole number, 0 or more")
    assert gaps["t/Score", "mention"].message == "Final score of New York Jets has no words in the text"
    form.do("inferred", object="t/Score", value=True)
    assert ("t/Score", "mention") not in places(gap.place for gap in reviewed(form).gaps)


def test_nothing_at_all_lacks_a_game():
    (gap,) = reviewed(Form()).gaps
    assert (gap.place.object, gap.message) == ("", "0 Games, at least 1")


def test_a_third_team_and_a_choice_that_is_none_are_told():
    form = paper_form().make("x", "Team", "g").fill("x", name="Jets").mark("x", "the Jets")
    gaps = {(gap.place.object, gap.place.field): gap for gap in reviewed(form).gaps}
    assert gaps["x", ""].kind == "too-many"
    assert gaps["x", "name"].fix == "choose one of the list"


def test_annotations_of_the_corpus_are_without_contradictions():
    for text, old in by_document(PACKAGE, "train"):
        state = replay(CONFIG, Annotator(old).annotate())
        assert review(CONFIG, REASONER, text, state).contradictions == ()


def test_a_limit_that_is_reached_leaves_the_review_undecided_and_not_in_order():
    tight = replace(REASONER, limits=replace(LIVE, firings=1))
    found = reviewed(paper_form().fill("g/Periods", value="4"), theory=tight)
    assert found.contradictions == found.follows == ()
    assert len(found.undecided) == 1
    assert "limit on" in found.undecided[0]
    assert not found.in_order


def test_a_package_can_be_given_in_place_of_its_reasoner():
    assert reviewed(paper_form(), theory=PACKAGE) == reviewed(paper_form())


def test_the_other_use_case_is_reviewed_by_its_own_rules():
    root = ROOT / "examples" / "annotation" / "protests"
    config, _ = read_config(root / "annotation.yaml")
    package = read_package(root, Findings())
    reasoner, documents = reasoner_of(package), package.documents("train")
    records = {one.document: one for one in read_records(root / "records.ndjson", Findings())}
    state = replay(config, records["harbour"].events)
    assert review(config, reasoner, documents["harbour"], state).in_order
    form = Form(documents["harbour"].text)
    form.events = list(records["harbour"].events)
    form.fill("p2/Day", value="2024-03-01").fill("p1", target="a1").fill("p1/Participants", value="10").fill(
        "p1", after="p9"
    )
    found = review(config, reasoner, documents["harbour"], replay(config, form.events))
    by_message = {clash.message: places(clash.places) for clash in found.contradictions}
    assert by_message["A protest that follows another one is not held before it."] == {
        ("p1/Day", "value"),
        ("p2", "after"),
        ("p2/Day", "value"),
    }
    assert by_message["Quayside United cannot be both organiser and target of Protest 1"] == {
        ("p1", "organiser"),
        ("p1", "target"),
    }
    arrested = by_message["No more people can be arrested than took part."]
    assert arrested == {("p1/Participants", "value"), ("c2", "count"), ("c3", "count")}
    assert [(gap.place.object, gap.kind) for gap in found.gaps] == [("p1", "reference")]


def test_a_field_that_points_to_something_of_another_kind_is_told_and_asserts_nothing():
    root = ROOT / "examples" / "annotation" / "protests"
    config, _ = read_config(root / "annotation.yaml")
    form = Form().make("p", "Protest").fill("p", form="March", organiser="p").mark("p", "fell")
    found = reviewed(form, config, read_package(root, Findings()))
    assert ("p", "organiser", "reference") in {(gap.place.object, gap.place.field, gap.kind) for gap in found.gaps}
    assert found.statements == 1


@FEW
@given(LOGS)
def test_whatever_was_done_is_reviewed_and_every_place_is_one_of_the_form(log):
    state = replay(CONFIG, log)
    found = review(CONFIG, REASONER, document("The Jets fell."), state)
    told = [place for clash in found.contradictions for place in clash.places] + [gap.place for gap in found.gaps]
    for place in told:
        parent, _, category = place.object.rpartition("/")
        assert place.object in {"", *state.objects} or (
            parent in {"", *state.objects} and category in CONFIG.categories
        )


def test_a_review_can_be_sent_as_json():
    data = reviewed(paper_form().fill("g/Periods", value="4")).as_dict()
    assert data["in_order"] is False
    assert data["contradictions"][0]["places"][0]["field"] == "value"
