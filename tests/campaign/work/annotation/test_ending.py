"""What comes out: adjudicated annotations, a gold that grows, a version of the truth, the effort (R-17, R-22, R-26)."""

import json

import pytest
from annotating_stage import CONFIG

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.work.annotation import adjudication, assignment, exchange, monitor, outcome
from basanite.campaign.work.annotation.lookup import document_named
from basanite.problems import Findings
from basanite.reading.effort import read_effort
from basanite.reading.gold.scope import read_truth
from basanite.reading.package.checks import check_package
from basanite.work.exchange.formats import format_named, read_statements
from basanite.work.exchange.model import content_of

FOXES = [("Foxes", [6, 11], 2), ("Owls", [21, 25], 1)]


def adjudicated(stage, name, teams):
    """Two annotators who agree, and an adjudicator who takes it."""
    for person in (stage.anna, stage.axel):
        stage.annotate(person, name, teams)
    text = stage.ask(document_named, stage.project, name).id
    stage.do(adjudication.accept_unanimous, Actor(stage.judy), text)
    stage.do(adjudication.finish, Actor(stage.judy), text)


@pytest.fixture
def ended(small_stage):
    adjudicated(small_stage, "one", FOXES)
    return small_stage


def test_the_gold_grows_by_what_adjudicated_annotations_lead_to_with_who_when_and_why(ended, tmp_path):
    eva = ended.season.as_eva
    grown = ended.do(outcome.grow, eva, ended.project, tmp_path / "grown", reason="first texts")
    assert (grown.version, grown.before, grown.kept, grown.texts) == ("v2", "v1", 0, 1)
    assert grown.added == 4
    assert set(grown.open_texts) == {"two", "three", "four", "five"}
    findings = Findings()
    contents = check_package(tmp_path / "grown", findings)
    assert findings.valid
    assert contents.gold == {"v2": 4}
    assert contents.statements["train"] > 0
    asked = dict.fromkeys(("queries", "types", "documents", "kinds", "gold"))
    truth = read_truth(tmp_path / "grown", {"part": "train", "phase": "", **asked}, findings)
    assert {one.answer.query for one in truth.gold} == {"teams", "goals"}
    assert {(one.by, one.why) for one in truth.gold} == {(ended.judy, "first texts")}
    assert {one.answer.kind for one in truth.gold} == {"explicit"}
    effort = read_effort(tmp_path / "grown" / "effort.ndjson", findings)
    assert {(one.activity, one.documents) for one in effort} == {("annotation", 1), ("adjudication", 1)}


def test_the_next_version_keeps_every_line_of_the_one_before(ended, tmp_path):
    eva = ended.season.as_eva
    ended.do(outcome.grow, eva, ended.project, tmp_path / "first", reason="first texts")
    adjudicated(ended, "three", [("Foxes", [0, 5], 3), ("Bears", [9, 14], 0)])
    grown = ended.do(outcome.grow, eva, ended.project, tmp_path / "second", reason="more texts")
    assert grown.added == 8
    lines = (tmp_path / "second" / "gold" / "v2.ndjson").read_text().splitlines()
    assert len(lines) == 8
    assert set((tmp_path / "first" / "gold" / "v2.ndjson").read_text().splitlines()) <= {
        line.replace("more texts", "first texts") for line in lines
    }


def test_nothing_grows_without_a_reason_or_from_nothing_and_for_organisers_alone(small_stage, tmp_path):
    eva = small_stage.season.as_eva
    for actor, reason in ((eva, "why not"), (eva, " "), (Actor(small_stage.judy), "mine")):
        with pytest.raises(RefusedError):
            small_stage.do(outcome.grow, actor, small_stage.project, tmp_path / "x", reason=reason)


def test_pairs_of_assertion_and_text_come_out_of_an_annotation(ended):
    shared = ended.do(exchange.export, ended.season.as_eva, ended.project, exchange.ExportChoice("pairs"))
    pairs = [json.loads(line) for line in shared.files["pairs.ndjson"].decode().splitlines()]
    assert all(pair["text"] == "😀 The Foxes beat the Owls 2-1 on Sunday." for pair in pairs)
    called = {pair["statement"][2] for pair in pairs if pair["statement"][1].endswith("called")}
    assert called == {'"Foxes"', '"Owls"'}
    assert {"Foxes", "Owls"} == {pair["pieces"]["object"] for pair in pairs if "object" in pair["pieces"]}
    assert shared.open_texts


@pytest.mark.parametrize("format_", ["turtle", "rdfxml", "jsonld", "nquads"])
def test_rdf_comes_back_as_the_same_assertions(ended, tmp_path, format_):
    shared = ended.do(exchange.export, ended.season.as_eva, ended.project, exchange.ExportChoice(format_))
    ((name, data),) = shared.files.items()
    (tmp_path / name).write_bytes(data)
    findings = Findings()
    back = read_statements(tmp_path / name, findings)
    (result,) = ended.ask_office(outcome.results, ended.season.as_eva, ended.project).texts
    assert not findings.problems
    assert {one.id for one in back} == {one.id for one in result.assertions}


@pytest.mark.parametrize("format_", ["label-studio", "web-annotation"])
def test_what_is_exported_comes_in_again_as_another_ones_record(ended, tmp_path, format_):
    eva = ended.season.as_eva
    shared = ended.do(exchange.export, eva, ended.project, exchange.ExportChoice(format_))
    ((name, data),) = shared.files.items()
    (tmp_path / name).write_bytes(data)
    (result,) = ended.ask_office(outcome.results, eva, ended.project).texts
    findings = Findings()
    found = format_named(format_).read(tmp_path / name, {"one": result.document.text}, findings)
    assert not findings.problems
    # The text is being adjudicated, so an extra record is for later: the sides stay what they were.
    brought = ended.do(exchange.bring_in, eva, ended.project, exchange.ForeignWork(ended.adam, found, done=True))
    assert not brought.problems
    assert brought.texts == 1
    again = ended.do(exchange.export, eva, ended.project, exchange.ExportChoice("label-studio", which="annotators"))
    (tmp_path / "all.json").write_bytes(again.files["label-studio.json"])
    several = format_named("label-studio").read(tmp_path / "all.json", {}, Findings())
    assert len(several) == 3
    assert len({content_of(one) for one in several}) == 1
    with pytest.raises(RefusedError):
        ended.do(exchange.bring_in, eva, ended.project, exchange.ForeignWork(ended.adam, found))


def test_what_belongs_to_other_texts_or_other_people_does_not_come_in(ended, tmp_path):
    from basanite.work.exchange.model import Annotated

    eva = ended.season.as_eva
    wrong = [Annotated("nine", "?"), Annotated("two", "Another text.")]
    brought = ended.do(exchange.bring_in, eva, ended.project, exchange.ForeignWork(ended.adam, wrong))
    assert brought.texts == 0
    assert len(brought.problems) == 2
    with pytest.raises(RefusedError):
        ended.do(exchange.bring_in, Actor(ended.anna), ended.project, exchange.ForeignWork(ended.anna, wrong))
    for actor in (Actor(ended.anna), ended.season.as_ada):
        with pytest.raises(RefusedError) as refusal:
            ended.do(exchange.export, actor, ended.project, exchange.ExportChoice("brat"))
        assert refusal.value.status == 404
    with pytest.raises(RefusedError):
        ended.do(exchange.export, Actor(ended.judy), ended.project, exchange.ExportChoice("brat", which="annotators"))


def test_no_name_or_id_of_a_person_leaves_in_any_format(ended):
    for format_ in exchange.ALL:
        shared = ended.do(
            exchange.export, ended.season.as_eva, ended.project, exchange.ExportChoice(format_, which="annotators")
        )
        text = b"".join(shared.files.values()).decode()
        for person in (ended.anna, ended.axel, "Anna", "Axel", "people.example"):
            assert person not in text, format_


def test_time_spent_leaves_long_pauses_out(small_stage, clock):
    small_stage.annotate(small_stage.anna, "one", FOXES[:1], done=False)
    clock.forward(minutes=3)
    small_stage.annotate(small_stage.anna, "one", FOXES, done=False)
    clock.forward(hours=2)
    small_stage.annotate(small_stage.anna, "one", FOXES)
    found = small_stage.ask_office(monitor.progress, small_stage.season.as_eva, small_stage.project)
    anna = next(one for one in found.people if one.person_id == small_stage.anna)
    assert anna.minutes == pytest.approx(3)
    assert (anna.done, anna.total) == (1, 4)
    assert (found.done_tasks, found.tasks, found.adjudicated_texts) == (1, 8, 0)
    with pytest.raises(RefusedError):
        small_stage.ask_office(monitor.progress, Actor(small_stage.anna), small_stage.project)


def test_agreement_tells_spans_from_labels_per_category_and_text(small_stage):
    small_stage.annotate(small_stage.anna, "one", FOXES)
    small_stage.annotate(small_stage.axel, "one", [("Foxes", [6, 11], 2), ("Owls", [17, 25], 3)])
    found = small_stage.ask_office(monitor.agreement, small_stage.season.as_eva, small_stage.project)
    assert found.texts == 1
    assert found.spans.exact.value == pytest.approx(0.5)
    assert found.spans.overlap.value == pytest.approx(1.0)
    assert found.labels.share.value == 1.0
    assert found.labels.kappa.reason
    assert found.fields["Goals.value"].share.value == 0.5
    assert found.per_text[0].name == "one"
    assert found.per_text[0].disagreements == 2
    with pytest.raises(RefusedError):
        small_stage.ask_office(monitor.agreement, Actor(small_stage.anna), small_stage.project)


def test_a_quality_checker_sees_anybodys_work_and_changes_nothing(ended):
    task = ended.task(ended.anna, "one")
    seen = ended.ask_office(monitor.view, Actor(ended.judy), task)
    assert len(seen.state.objects) == 5
    with pytest.raises(RefusedError):
        ended.ask_office(monitor.view, Actor(ended.axel), task)
    assert seen.config.text == CONFIG
    extra = ended.do(
        assignment.assign_extra, ended.season.as_eva, ended.ask(document_named, ended.project, "two").id, ended.judy
    )
    assert extra.role == "annotator"
    with pytest.raises(RefusedError):
        ended.ask_office(monitor.view, Actor(ended.judy), ended.task(ended.anna, "two"))
