"""What a panel ends in: files of declared formats, and keys that people made (M88)."""

import io
import json
import tarfile

import pytest
from tests.campaign.work.panels.conftest import STARS, passages

import basanite
from basanite.campaign.actions import references
from basanite.campaign.actions.references import Place
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import adjudication, judge_work, outcome, setup
from basanite.formats.archives.archive import open_source
from basanite.problems import Findings
from basanite.work.items import Block, item_of

KEY = 'format = "basanite-judging/1"\nname = "key"\npreset = "key-query"\nbreak_every = 0\n'
PLACE = Place("CLIR", "DEV", "1A", "QUERY1")


def documents(queries=2, count=3):
    """Every document for every query, to be marked."""
    return [
        item_of(
            [Block("query", f"query {query}"), Block("document", f"Document {number} on {query}.")],
            {"query": f"query{query}", "document": f"MATERIAL_BASE-1A_{number:08}"},
            new_id=random_id,
        )
        for query in range(queries)
        for number in range(count)
    ]


def marked(bench, name="key"):
    """A panel that two people marked: they differ on one document."""
    items = documents()
    panel = bench.panel(KEY, items, ["jo", "kim"], name=name)
    odd = items[-1].blocks
    for judge in ("jo", "kim"):
        bench.begin(panel, judge)
        bench.say_all(
            panel, judge, lambda found, j=judge: {"relevant": "Y" if j == "jo" or found.blocks != odd else "N"}
        )
    return panel


def test_a_key_is_double_marked_adjudicated_and_versioned(bench):
    panel, eva = marked(bench), bench.season.as_eva
    ended = bench.ask(outcome.files, panel)
    assert ended.undecided == 1
    bench.do(setup.close_panel, eva, panel)
    with pytest.raises(RefusedError, match="1 items have no answer"):
        outcome.make_reference(bench.office, eva, panel, PLACE, reason="marked")
    (case,) = bench.ask(lambda session, office: adjudication.queue(session, panel))
    bench.do(adjudication.decide, eva, case.id, {"relevant": "N"}, "only mentioned in passing")
    row = outcome.make_reference(bench.office, eva, panel, PLACE, reason="two annotators and an adjudicator")
    assert (row.version, row.state, row.by) == (1, "active", eva.id)
    with tarfile.open(fileobj=io.BytesIO(bench.office.sealed.read(row.files["reference"][0]))) as archive:
        files = {one.name: archive.extractfile(one).read().decode() for one in archive.getmembers()}
    assert sorted(files) == ["query0.tsv", "query1.tsv"]
    assert files["query1.tsv"].splitlines()[-1] == "MATERIAL_BASE-1A_00000002\tN"
    record = json.loads(bench.office.sealed.read(row.files["judged"]))
    assert (record["panel"], record["judgements"], record["decisions"]) == (panel, ended.digest, 1)
    again = outcome.make_reference(bench.office, eva, panel, PLACE, reason="made again")
    assert (again.version, again.state) == (2, "proposed")
    assert references.agrees(row.commitment, bench.office.vault.secret("reference", row.id).hex(), row.files)
    forged = row.files | {"judged": "0" * 64}
    assert not references.agrees(row.commitment, bench.office.vault.secret("reference", row.id).hex(), forged)


def test_the_digest_is_of_all_judgements_whatever_their_order(bench):
    first = bench.ask(outcome.files, marked(bench, "one")).digest
    assert first.startswith("sha256:")
    panel = bench.panel(KEY, documents(1, 2), ["jo", "kim"], name="two")
    jo = bench.begin(panel, "jo")
    bench.say(panel, "jo", {"relevant": "Y"})
    before = bench.ask(outcome.files, panel).digest
    bench.do(
        judge_work.correct,
        jo,
        panel,
        bench.desk(panel, "jo").last,
        judge_work.Answer({"relevant": "N"}, key="corrected"),
    )
    assert bench.ask(outcome.files, panel).digest != before


@pytest.mark.req("R-2")
def test_stars_and_ranks_become_the_reference_of_the_readability_task(bench, tmp_path):
    panel = bench.panel(STARS, passages(4), ["jo:expert", "kim:novice", "lu:novice"])
    for judge in ("jo", "kim", "lu"):
        actor = bench.begin(panel, judge)
        bench.say_all(panel, judge, lambda found: {"rating": 1 + len(found.assignment) % 5})
        order = [one.item for one in bench.desk(panel, judge).placed]
        bench.do(judge_work.rank, actor, panel, judge_work.RoundReply(1, order, key="ranked"))
    bench.do(judge_work.criteria, bench.actor("jo"), panel, judge_work.RoundReply(1, ["short words"], key="listed"))
    files = {one.name: one.content for one in bench.ask(outcome.files, panel).files}
    reference, rated = tmp_path / "panels.csv", tmp_path / "machine.csv"
    reference.write_bytes(files["panels.csv"])
    rated.write_text("passage,rating\n" + "".join(f"p{number},3\n" for number in range(4)))
    scored = basanite.score("readability", reference=reference, submission=rated, draws=50)
    assert scored.values["score_difference"].units == 4
    assert b"short words" in files["criteria.csv"]
    for content in files.values():
        for judge in ("jo", "kim", "lu"):
            assert bench.person(judge).encode() not in content


def test_files_of_a_key_are_read_by_the_task(bench, tmp_path):
    ended = bench.ask(outcome.files, marked(bench))
    for one in ended.files:
        (tmp_path / one.name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / one.name).write_bytes(one.content)
    names = [member.name for member in open_source(tmp_path / "key").members(Findings())]
    assert sorted(names) == ["query0.tsv", "query1.tsv"]


def test_only_organisers_make_the_truth(bench):
    panel = marked(bench)
    bench.do(setup.close_panel, bench.season.as_eva, panel)
    for stranger in (bench.season.as_ada, bench.actor("jo")):
        with pytest.raises(RefusedError) as refusal:
            outcome.make_reference(bench.office, stranger, panel, PLACE, reason="mine")
        assert refusal.value.status == 403
