"""Batches for a crowd platform: what goes out, and that nothing else comes back (X-18, C45)."""

from __future__ import annotations

import csv
import io
import json
import re
from xml.etree import ElementTree as ET

import pytest
from tests.work.making import new_ids, scheme_of

from basanite.errors import SettingError
from basanite.work.batches import export_batch, read_results
from basanite.work.items import Block, item_of

KEY = b"a key of the campaign"
SCHEME = scheme_of("relevance", per_item=3)
NAMESPACE = "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd}"


def items():
    ids = new_ids()
    blocks = [
        [
            Block("query", f'rain "{at}" <b>'),
            Block("domain", "Weather & climate"),
            Block("image", f"digest{at}"),
            Block("instructions", "<script>x</script><b>bold</b>"),
        ]
        for at in range(3)
    ]
    made = [item_of(some, {"system": "Alpha", "query": "q"}, new_id=ids.__next__) for some in blocks]
    check = item_of(blocks[0][:2], {}, new_id=lambda: "c1", role="check", expected={"verdict": "R"})
    return [*made, check, item_of(blocks[0], {}, new_id=lambda: "t1", role="training")]


def batch(**more):
    return export_batch(
        SCHEME, items(), batch="b1", key=KEY, image_url=lambda digest: f"https://pics.example/{digest}", **more
    )


def rows_of(sent):
    return list(csv.DictReader(io.StringIO(sent.table.decode())))


def results(sent, *changes, workers=("W1",), verdict="R", status="Submitted"):
    """A file of results as the platform gives it; changes are put over single rows."""
    rows = []
    for at, row in enumerate(rows_of(sent)):
        for worker in workers:
            base = {"HITId": f"H{at}", "AssignmentId": f"A{at}{worker}", "WorkerId": worker, "AssignmentStatus": status}
            given = {f"Input.{name}": value for name, value in row.items()}
            rows.append(base | given | {"WorkTimeInSeconds": "12", "Answer.verdict": verdict})
    for at, change in changes:
        rows[at] |= change
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def read(data, sent=None, **more):
    return read_results(data, "results.csv", sent or batch(), SCHEME, key=KEY, **more)


def test_the_template_is_an_htmlquestion_with_a_crowd_form_and_a_name_for_every_answer():
    root = ET.fromstring(batch().template)
    page = root.find(f"{NAMESPACE}HTMLContent").text
    assert root.tag == f"{NAMESPACE}HTMLQuestion"
    assert int(root.find(f"{NAMESPACE}FrameHeight").text) > 0
    assert "<![CDATA[" in batch().template
    assert page.count("<crowd-form>") == page.count("</crowd-form>") == 1
    assert set(re.findall(r"\$\{(\w+)\}", page)) == {"query", "domain", "image", "instructions"}
    assert {"verdict", "comment", "flag-not-text"} <= set(re.findall(r'name="([\w-]+)"', page))
    assert "Written by the system" in page


def test_a_row_tells_neither_system_nor_facts_and_checks_look_like_the_rest():
    sent = batch()
    assert len(rows_of(sent)) == 4
    assert sent.assignments == 3
    assert b"Alpha" not in sent.table
    assert b"system" not in sent.table
    assert set(rows_of(sent)[0]) == {"item", "query", "domain", "image", "instructions", "seal"}


def test_what_stands_in_a_variable_is_harmless_html():
    row = rows_of(batch())[1]
    assert row["query"] == "rain &quot;0&quot; &lt;b&gt;"
    assert row["instructions"] == "<b>bold</b>"
    assert row["image"].startswith("https://")


def test_images_without_https_are_refused():
    with pytest.raises(SettingError, match="https"):
        export_batch(SCHEME, items(), batch="b", key=KEY, image_url=lambda digest: f"http://x/{digest}")


@pytest.mark.parametrize(("preset", "words"), [("mqm", "spans"), ("readability", "ranked")])
def test_what_cannot_be_judged_there_is_refused_with_the_reason(preset, words):
    with pytest.raises(SettingError, match=words):
        export_batch(scheme_of(preset), items(), batch="b", key=KEY, image_url=str)


def test_results_of_the_batch_become_votes_of_hidden_workers():
    found = read(results(batch(), workers=("AWORKER1", "AWORKER2")))
    assert found.is_accepted
    assert len(found.votes) == 8
    assert {vote.answers["verdict"] for vote in found.votes} == {"R"}
    assert {vote.seconds for vote in found.votes} == {12.0}
    assert len({vote.judge for vote in found.votes}) == 2
    assert "AWORKER" not in repr(found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Input.item": "i9999"}, "no such item was sent out with this batch"),
        ({"Input.seal": "0" * 64}, "the seal of this row is not the one that was sent out"),
        ({"Input.query": "another query"}, "what the worker saw is not what was sent out"),
        ({"Input.image": "https://pics.example/other"}, "what the worker saw is not what was sent out"),
        ({"HITId": "H1"}, "this HIT had another item before"),
        ({"HITId": ""}, "this HIT had another item before"),
    ],
)
def test_an_unknown_or_changed_row_is_refused_and_nothing_of_the_file_counts(change, words):
    found = read(results(batch(), (2, change)))
    assert not found.is_accepted
    assert found.votes == ()
    assert (4, words) in [(problem.line, problem.message) for problem in found.problems]
    assert {problem.rule for problem in found.problems} == {"X-18"}


def test_rows_of_another_batch_or_key_do_not_fit():
    other = export_batch(
        SCHEME, items(), batch="b2", key=KEY, image_url=lambda digest: f"https://pics.example/{digest}"
    )
    assert not read(results(other)).is_accepted
    assert not read(results(batch()), known_hits={"H0": "i0002"}).is_accepted


def test_rejected_assignments_are_no_votes_and_a_workers_second_vote_does_not_count():
    sent = batch()
    rejected = read(results(sent, status="Rejected"))
    assert (rejected.votes, rejected.rejected, rejected.is_accepted) == ((), 4, True)
    twice = read(results(sent, (1, {"Answer.verdict": "N"}), workers=("W1", "W1")))
    assert len(twice.votes) == 4
    assert twice.is_accepted
    assert [problem.message for problem in twice.problems] == [
        "this worker judged this item before; the first vote counts"
    ] * 4
    assert {vote.answers["verdict"] for vote in twice.votes} == {"R"}


def test_answers_of_crowd_forms_are_read_from_their_json():
    task = json.dumps([{"verdict": {"R": False, "N": True}, "comment": "dark", "flag-not-text": {"on": True}}])
    found = read(results(batch(), (0, {"Answer.verdict": "", "Answer.taskAnswers": task})))
    assert found.votes[0].answers == {"verdict": "N"}
    assert (found.votes[0].comment, found.votes[0].flags) == ("dark", ("not-text",))


def test_an_answer_outside_the_choices_is_refused_and_an_empty_one_warned_of():
    assert [problem.rule for problem in read(results(batch(), verdict="maybe")).problems] == ["C45"] * 4
    empty = read(results(batch(), (0, {"Answer.verdict": ""})))
    assert empty.is_accepted
    assert len(empty.votes) == 3


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"a,b\n1", b'HITId,"x', b"HITId\n" * 3, b"\0" * 50], ids=range(6))
def test_what_is_no_file_of_results_is_refused(data):
    found = read(data)
    assert not found.is_accepted
    assert found.votes == ()
    assert all(problem.fix for problem in found.problems)
