"""What is written in a format comes back as it was; what cannot is said before (P-32)."""

import pytest
from hypothesis import given, settings
from made_up import annotated

from basanite.errors import SettingError
from basanite.problems import Findings
from basanite.work.annotation.events import Mention, Object
from basanite.work.exchange.brat import read_brat, write_brat
from basanite.work.exchange.conll import read_conll, write_conll
from basanite.work.exchange.formats import FORMATS, format_named, write_to
from basanite.work.exchange.label_studio import read_label_studio, write_label_studio
from basanite.work.exchange.model import Annotated, Losses, Place, content_of
from basanite.work.exchange.web_annotation import read_web_annotation, write_web_annotation

OFTEN = settings(max_examples=80, deadline=None)


def place(findings):
    return Place("file", findings)


@OFTEN
@given(annotated())
def test_brat_gives_back_all_that_has_words(one):
    findings, losses = Findings(), Losses("brat")
    files = dict(write_brat([one], losses))
    back = read_brat(one.document, files["report-1.txt"], files["report-1.ann"], place(findings))
    assert not findings.problems
    assert not losses.found
    assert content_of(back) == content_of(one)


@OFTEN
@given(annotated(words=False))
def test_label_studio_gives_back_everything(one):
    findings, losses = Findings(), Losses("label-studio")
    (back,) = read_label_studio(write_label_studio([one], losses), place(findings))
    assert not findings.problems
    assert not losses.found
    assert content_of(back) == content_of(one)
    assert back.annotator == "annotator-1"


@OFTEN
@given(annotated(words=False))
def test_web_annotation_gives_back_everything(one):
    findings, losses = Findings(), Losses("web-annotation")
    data = write_web_annotation([one], losses)
    back = read_web_annotation(data, place(findings), texts={one.document: one.text}) if one.objects else [one]
    assert not findings.problems
    assert not losses.found
    assert [content_of(each) for each in back] == [content_of(one)]


def plain_spans(one):
    """Category and place of every piece, blanks at the ends left out."""
    found = set()
    for thing in one.objects:
        for several in thing.mentions.values():
            for mention in several:
                for start, end in mention.parts:
                    words = one.text[start:end]
                    if words.strip():
                        first = start + len(words) - len(words.lstrip())
                        found.add((thing.category, first, first + len(words.strip())))
    return found


@OFTEN
@given(annotated())
def test_conll_gives_back_every_span_with_its_label_however_they_overlap(one):
    findings, losses = Findings(), Losses("conll")
    data = write_conll([one], losses)
    back = read_conll(data, place(findings), texts={one.document: one.text})
    assert not findings.problems
    found = {span for each in back for span in plain_spans(each)}
    assert found == plain_spans(one)
    assert bool(losses.found) == (
        bool(one.links)
        or any(
            thing.fields
            or thing.parent
            or thing.inferred
            or thing.note
            or any(len(mention.parts) > 1 for several in thing.mentions.values() for mention in several)
            or sum(map(len, thing.mentions.values())) > 1
            or any(
                one.text[a:b] != one.text[a:b].strip()
                for several in thing.mentions.values()
                for mention in several
                for a, b in mention.parts
            )
            for thing in one.objects
        )
    )


def test_what_brat_has_no_place_for_is_counted_and_named():
    game = Object("g", "Game")
    team = Object("t", "Team", "g", {}, {"mention": (Mention("m", ((4, 8),)),)})
    losses = Losses("brat")
    dict(write_brat([Annotated("d", "The Jets won.", (game, team))], losses))
    words = [problem.message for problem in losses.problems()]
    assert "not kept: Game without words of its own" in words
    assert "not kept: that something lies in an object without words" in words


def test_an_emoji_before_a_span_moves_nothing_whichever_way_the_tool_counts(tmp_path):
    text = "😀😀 Jets"
    value = {"text": "Jets", "labels": ["Team"]}
    for start in (3, 5):  # code points, UTF-16 units
        result = {"id": "r", "type": "labels", "from_name": "label", "to_name": "text"}
        result["value"] = {**value, "start": start, "end": start + 4}
        import json

        data = json.dumps([{"id": 1, "data": {"text": text}, "annotations": [{"result": [result]}]}]).encode()
        findings = Findings()
        (back,) = read_label_studio(data, place(findings))
        assert not findings.problems
        assert back.objects[0].mentions["mention"][0].parts == ((3, 7),)


@pytest.mark.parametrize("counted", ["with", "without"])
def test_brat_files_with_carriage_returns_are_read_whichever_way_positions_were_counted(counted):
    text = "One line.\r\nThe Jets won.\r\n"
    start = text.index("Jets") - (0 if counted == "with" else 1)
    ann = f"T1\tTeam {start} {start + 4}\tJets\r\n".encode()
    findings = Findings()
    back = read_brat("d", text.encode(), ann, place(findings))
    assert not findings.problems
    (mention,) = back.objects[0].mentions["mention"]
    assert back.text[slice(*mention.parts[0])] == "Jets"
    assert "\r" not in back.text


def test_a_brat_file_from_elsewhere_keeps_events_relations_and_notes():
    text = "Ann met Bob in Rome."
    ann = (
        "T1\tPerson 0 3\tAnn\nT2\tPerson 8 11\tBob\nT3\tMeet 4 7\tmet\nE1\tMeet:T3 Who:T1 Whom:T2\n"
        "R1\tknows Arg1:T1 Arg2:T2\n#1\tAnnotatorNotes T2\tperhaps Robert\nA1\tNegated E1\n"
        "N1\tReference T1 Wikipedia:534366\tAnn\n"
    )
    findings = Findings()
    back = read_brat("d", text.encode(), ann.encode(), place(findings))
    assert not findings.problems
    assert {(link.kind, link.source, link.target) for link in back.links} == {
        ("Who", "T3", "T1"),
        ("Whom", "T3", "T2"),
        ("knows", "T1", "T2"),
    }
    assert back.by_id["T2"].note == "perhaps Robert"
    assert back.by_id["T3"].fields == {"Negated": "Negated"}
    assert back.by_id["T1"].fields == {"reference": "Wikipedia:534366"}


def test_several_annotators_of_a_text_have_folders_of_their_own_and_no_path_leads_out():
    ones = [Annotated("d", "Jets", annotator=who) for who in ("A1", "../../evil")]
    files = write_to(format_named("brat"), ones, Findings())
    assert set(files) == {"A1/d.txt", "A1/d.ann", "annotator-2/d.txt", "annotator-2/d.ann"}


def test_an_unknown_format_is_answered_with_the_nearest():
    with pytest.raises(SettingError, match="label-studio"):
        format_named("label_studio")
    assert set(FORMATS) == {"brat", "label-studio", "conll", "web-annotation"}


def test_label_studio_people_become_numbers_and_other_results_are_named():
    import json

    shape = {"id": "x", "type": "rectanglelabels", "value": {"x": 1}}
    tasks = [
        {
            "id": 3,
            "data": {"text": "Jets"},
            "annotations": [{"completed_by": {"email": "ann@people.example"}, "result": [shape]}],
            "predictions": [{"result": []}],
        }
    ]
    findings = Findings()
    (back,) = read_label_studio(json.dumps(tasks).encode(), place(findings))
    assert back.annotator == "annotator-1"
    assert back.document == "task-3"
    words = [problem.message for problem in findings]
    assert "not kept: predictions of task 1" in words
    assert "not kept: task-3: 1 results of type rectanglelabels" in words
    assert findings.valid


def test_a_quotation_without_a_position_is_looked_for():
    import json

    target = {"source": "d.txt", "selector": {"type": "TextQuoteSelector", "exact": "Jets", "prefix": "The "}}
    item = {"type": "Annotation", "body": [{"purpose": "tagging", "value": "Team"}], "target": target}
    (back,) = read_web_annotation(json.dumps([item]).encode(), place(Findings()), texts={"d": "Jets? The Jets!"})
    assert back.objects[0].mentions["mention"][0].parts == ((10, 14),)
