"""Pools drawn from submitted runs: the first documents of each, once, in no system's name, judged into qrels."""

import json
import tarfile
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.campaign.work.panels.conftest import verdict_scheme

from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.jobs.summaries import first_documents
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.store.tables import Event, Submission
from basanite.campaign.work.panels import enrolment, outcome, setup, sources
from basanite.campaign.work.panels.lookup import items_of
from basanite.campaign.work.panels.sources import Drawing
from basanite.problems import Findings
from basanite.work.item_files import Texts, read_texts

EXAMPLES = Path(__file__).parents[4] / "examples"
SCHEME = 'format = "basanite-judging/1"\nname = "found"\npreset = "pool"\nbreak_every = 0\n'


def submitted(bench, name, *, kind="primary", state="scored"):
    """A run of the example, handed in by the team of its name."""
    team, person = {
        "Alpha": (bench.season.alpha, bench.season.ada),
        "Beta": (bench.season.beta, bench.season.bea),
    }[name]
    with bench.office.writing() as session:
        said = Declared("CLIR", name, type=kind, language="1A", queryset="QUERY1", dataset=("DEV",))
        stored = bench.office.files.take(EXAMPLES / "clir" / f"{name}.tgz")
        row = accept(session, bench.office, Actor(person), Arrival(team, said, stored))
        row.state = state
        return row.id


def firsts(name, depth):
    """For each query its first documents, read without our readers."""
    found = {}
    with tarfile.open(EXAMPLES / "clir" / f"{name}.tgz") as archive:
        for member in archive:
            if member.name.endswith(".tsv"):
                lines = archive.extractfile(member).read().decode().splitlines()
                rows = [line.split("\t") for line in lines]
                order = sorted(rows, key=lambda row: (float(row[2]), row[0]), reverse=True)
                found[Path(member.name).stem] = [row[0] for row in order[:depth]]
    return found


def pairs_of(bench, panel):
    """What a panel has been given: pairs in order."""
    with bench.office.reading() as session:
        return [(row.facts["query"], row.facts["document"]) for row in items_of(session, panel)]


def pool_panel(bench):
    made = bench.do(
        setup.create, bench.season.as_eva, bench.season.campaign_id, setup.NewPanel(SCHEME, name="found", window="dev")
    )
    return made.id


@pytest.mark.parametrize("task", ["clir", "ranking"])
def test_the_first_documents_of_a_run_are_read_alike_from_archives_and_trec_runs(task, tmp_path):
    wanted = firsts("Alpha", 4)
    path = EXAMPLES / "clir" / "Alpha.tgz"
    if task == "ranking":
        path = tmp_path / "alpha.run"
        path.write_text("".join(
            f"{query} Q0 {document} {rank} {10 - rank} alpha\n"
            for query, found in wanted.items() for rank, document in enumerate(found)
        ))  # fmt: skip
    findings = Findings()
    assert first_documents(path, task, 4, findings) == wanted
    assert findings.valid
    assert first_documents(path, task, 1, findings) == {query: found[:1] for query, found in wanted.items()}


def test_a_pool_of_submitted_runs_is_judged_blind_and_becomes_qrels(bench):
    runs = [submitted(bench, "Alpha"), submitted(bench, "Beta", kind="contrastive")]
    panel = pool_panel(bench)
    texts = Texts({"query1": "rain in spring"})
    drawn = sources.draw(bench.office, bench.season.as_eva, panel, Drawing(2, budget=5), texts=texts)
    alpha, beta = firsts("Alpha", 2), firsts("Beta", 2)
    whole = {(query, one) for found in (alpha, beta) for query, documents in found.items() for one in documents}
    assert (drawn.runs, drawn.pooled, drawn.added.new, drawn.waiting) == (2, len(whole), 5, len(whole) - 5)
    first = [(query, alpha[query][0]) for query in sorted(alpha)]
    assert pairs_of(bench, panel) == first[:5], "the primary run comes first, one document of each query in turn"
    again = sources.draw(bench.office, bench.season.as_eva, panel, Drawing(2))
    assert (again.added.new, again.added.merged, again.waiting) == (len(whole) - 5, 0, 0)
    assert set(pairs_of(bench, panel)) == whole
    with bench.office.reading() as session:
        kept = json.dumps([[row.blocks, row.facts, row.also] for row in items_of(session, panel)])
        (event, _) = session.scalars(select(Event).where(Event.kind == "panel.pooled")).all()
    assert not any(word in kept for word in (*runs, bench.season.alpha, bench.season.beta, "Alpha", "Beta"))
    assert event.data["runs"] == sorted(runs)
    bench.do(enrolment.enrol, bench.season.as_eva, panel, bench.person("jo"))
    bench.do(setup.open_panel, bench.season.as_eva, panel)
    bench.begin(panel, "jo")
    assert bench.desk(panel, "jo").blocks[0].value in {"rain in spring", *alpha}
    bench.say_all(panel, "jo", lambda found: {"grade": "2"})
    (qrels,) = [one for one in bench.ask(outcome.files, panel).files if one.name == "qrels.txt"]
    graded = {tuple(line.split()) for line in qrels.content.decode().splitlines()}
    assert graded == {(query, "0", document, "2") for query, document in whole}


@pytest.mark.store
def test_only_valid_runs_that_count_are_pooled_and_by_organisers_alone(both):
    panel = pool_panel(both)
    submitted(both, "Alpha", kind="contrastive")
    with pytest.raises(RefusedError, match="no run"):
        sources.draw(both.office, both.season.as_eva, panel, Drawing(1, types=("primary",)))
    for depth, budget in ((0, None), (sources.DEEPEST + 1, None), (1, 0)):
        with pytest.raises(RefusedError, match="is invalid"):
            sources.draw(both.office, both.season.as_eva, panel, Drawing(depth, budget))
    with pytest.raises(RefusedError) as refusal:
        sources.draw(both.office, both.season.as_ada, panel, Drawing(1))
    assert refusal.value.status == 403
    drawn = sources.draw(both.office, both.season.as_eva, panel, Drawing(1))
    assert drawn.added.new == len(firsts("Alpha", 1)) == drawn.queries
    with both.office.writing() as session:
        session.scalars(select(Submission)).one().standing = "disqualified"
    with pytest.raises(RefusedError, match="no run"):
        sources.draw(both.office, both.season.as_eva, panel, Drawing(1))


def test_a_panel_that_shows_no_documents_takes_no_pool(bench):
    panel = bench.panel(verdict_scheme(), [], opened=False)
    with pytest.raises(RefusedError, match="does not judge documents"):
        sources.draw(bench.office, bench.season.as_eva, panel, Drawing(1), window="dev")


def test_a_run_that_cannot_be_read_stops_the_drawing_and_adds_nothing(bench):
    submitted(bench, "Alpha")
    with bench.office.writing() as session:
        row = session.scalars(select(Submission)).one()
        row.sha256 = bench.office.files.put(b"no archive").digest
    panel = pool_panel(bench)
    with pytest.raises(RefusedError, match="cannot be read"):
        sources.draw(bench.office, bench.season.as_eva, panel, Drawing(1))
    assert pairs_of(bench, panel) == []


def test_texts_come_from_one_table_of_queries_and_documents(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("query,document,text\nq1,,rain\n,d1,It rained.\n")
    findings = Findings()
    assert read_texts(path, findings) == Texts({"q1": "rain"}, {"d1": "It rained."})
    assert findings.valid


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("query,words\nq1,rain\n", "no column text"),
        ("id,text\nq1,rain\n", "no column query or document"),
        ("query,document,text\nq1,d1,rain\n", "or for neither"),
        ("query,document,text\n,,rain\n", "or for neither"),
        ("query,document,text\nq1,,\n", "0 characters"),
        ("query,text\nq1,rain\nq1,snow\n", "was there before"),
    ],
)
def test_a_table_of_texts_with_mistakes_is_refused_with_its_lines(tmp_path, content, words):
    path = tmp_path / "texts.csv"
    path.write_text(content)
    with pytest.raises(RefusedError) as refusal:
        sources.checked_texts(path)
    assert words in refusal.value.problems[0].message
    assert refusal.value.problems[0].line is not None
