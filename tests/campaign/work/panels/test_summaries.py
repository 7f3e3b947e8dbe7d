"""Summaries of two teams from their archives to judges, to a version of the truth, and to end-to-end values."""

import io
import json
import zlib
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import select
from tests.campaign.work.panels.conftest import Bench

import basanite
from basanite.campaign.actions import references, rescoring
from basanite.campaign.actions.references import Place
from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.jobs import comparison
from basanite.campaign.jobs.scoring_process import material
from basanite.campaign.jobs.summaries import plain_picture, write_summaries
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.results.facts import adopted_results
from basanite.campaign.store.tables import BatchItem, PanelImage, Submission, Team
from basanite.campaign.work.panels import adjudication, monitor, outcome, setup, sources
from basanite.campaign.work.panels import sources as images
from basanite.campaign.work.panels.lookup import items_of
from basanite.formats.archives.members import Member
from basanite.formats.archives.output import write_archive
from basanite.synthetic.summaries import text_picture
from basanite.testing import SetClock, season, small_campaign_text, small_office

EXAMPLE = Path(__file__).parents[4] / "examples" / "e2e"
SCHEME = """format = "basanite-judging/1"
name = "summaries"
preset = "relevance"
per_item = 2
[checks]
share = 0.0
"""
PLACE = Place("E2E", "DEV", "1A", "QUERY1")


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    """Two runs with summaries in a window, the key of their task, and a panel that was given all of them."""
    office = small_office(tmp_path_factory.mktemp("week"), SetClock())
    made = season(office, small_campaign_text().replace('tasks = ["CLIR"]', 'tasks = ["CLIR", "E2E"]', 1))
    bench = Bench(office, made)
    bench.runs = {}
    for team, code, person, name in (
        (made.alpha, "FLAIR", made.ada, "Alpha"),
        (made.beta, "SARAL", made.bea, "Beta"),
    ):
        with office.writing() as session:
            session.get_one(Team, team).code = code
            said = Declared("E2E", name, type="contrastive", language="1A", queryset="QUERY1", dataset=("DEV",))
            row = accept(
                session, office, Actor(person), Arrival(team, said, office.files.take(EXAMPLE / f"{name}.tgz"))
            )
            row.state = "scored"
            bench.runs[name] = row.id
    key = references.take_in(office, references.Paths((EXAMPLE / "key",)))
    bench.do(references.add, made.as_eva, made.campaign_id, references.NewVersion(PLACE, key))
    bench.week = bench.do(
        setup.create, made.as_eva, made.campaign_id, setup.NewPanel(SCHEME, name="summaries", window="dev")
    ).id
    names = (EXAMPLE / "queries.txt").read_text().split()
    asked = {name: sources.Asked(f"what {name} asks") for name in names}
    bench.added = sources.from_submissions(office, made.as_eva, bench.week, sources.SummaryRuns(queries=asked))
    yield bench
    office.close()


def test_judges_get_query_and_picture_under_ids_that_tell_nothing(week):
    with week.office.reading() as session:
        rows = items_of(session, week.week)
        pictures = {row.id: row for row in session.scalars(select(PanelImage))}
    assert week.added.new == len(rows) > 30
    assert week.added.notes == ()
    for row in rows:
        assert [block["kind"] for block in row.blocks][:2] == ["query", "image"]
        assert "FLAIR" not in json.dumps(row.blocks)
        assert "MATERIAL" not in json.dumps(row.blocks)
        assert row.blocks[1]["value"] in pictures
    assert {facts["team"] for row in rows for facts in (row.facts, *row.also)} == {week.season.alpha, week.season.beta}
    told = {row.facts["summary"] for row in rows}
    assert not told & {row.digest for row in pictures.values()}
    assert not told & {row.source for row in pictures.values()}


def test_summaries_whose_queries_are_not_in_the_list_are_left_out_with_one_note(week):
    names = (EXAMPLE / "queries.txt").read_text().split()
    asked = {name: sources.Asked(f"what {name} asks") for name in names[:2]}
    (note,) = sources.from_submissions(
        week.office, week.season.as_eva, week.week, sources.SummaryRuns(queries=asked)
    ).notes
    assert note.message.startswith("summaries omitted because the list of queries lacks their query: ")
    assert note.found.startswith(f"{names[2]}, {names[3]}, {names[4]} and ")


def test_pictures_are_encoded_anew_and_shown_to_nobody_else(week):
    with week.office.reading() as session:
        row = session.scalars(select(PanelImage)).first()
        shown = images.shown_image(session, week.office, week.season.as_eva, week.week, row.id)
        for stranger in (week.season.as_ada, week.actor("nobody")):
            with pytest.raises(RefusedError) as refusal:
                images.shown_image(session, week.office, stranger, week.week, row.id)
            assert refusal.value.status == 404
    with Image.open(io.BytesIO(shown.content)) as picture:
        assert (picture.format, picture.size, dict(picture.info)) == ("PNG", (shown.width, shown.height), {})


@pytest.mark.req("S-18")
def test_what_judges_say_becomes_a_version_of_the_truth_and_end_to_end_values(week):
    eva = week.season.as_eva
    from basanite.campaign.work.panels import enrolment

    for judge in ("jo", "kim", "lu"):
        week.do(enrolment.enrol, eva, week.week, week.person(judge))
    week.do(setup.open_panel, eva, week.week)
    for judge in ("jo", "kim", "lu"):
        week.begin(week.week, judge)
        week.say_all(week.week, judge, lambda found: {"verdict": "RN"[zlib.crc32(found.assignment.encode()) % 2]})
    with pytest.raises(RefusedError, match="close the panel first"):
        outcome.make_reference(week.office, eva, week.week, PLACE, reason="judged")
    week.do(setup.close_panel, eva, week.week)
    ended = week.ask(outcome.files, week.week)
    row = outcome.make_reference(week.office, eva, week.week, PLACE, reason="judges have looked")
    assert (row.version, row.state) == (2, "proposed")
    record = json.loads(week.office.sealed.read(row.files["judged"]))
    assert (record["judgements"], record["rule"]) == (ended.digest, "majority, a tie is N")
    old = week.ask(lambda session, office: references.active(session, row.campaign_id, *("E2E", "1A", "QUERY1", "DEV")))
    with week.office.reading() as session:
        run = session.get_one(Submission, week.runs["Alpha"])
        keys = {material(session, week.office, run, reference_id=one).key(run) for one in (row.id, old.id)}
    assert len(keys) == 2
    _rescored(week, row.id)
    votes = {one.name: one.content for one in ended.files}
    for name, run_id in week.runs.items():
        path = week.office.settings.data / f"{name}.judgements.tsv"
        path.write_bytes(votes[f"{run_id}.judgements.tsv"])
        alone = basanite.score(
            "e2e", reference=EXAMPLE / "key", submission=EXAMPLE / f"{name}.tgz", judgements=path, draws=10
        )
        with week.office.reading() as session:
            held = json.loads(week.office.files.read(adopted_results(session, [run_id])[run_id].digest))
        assert held["values"]["e2e_aqwv"]["value"] == pytest.approx(alone.values["e2e_aqwv"].value)
        assert held["digests"]["judgements"].startswith("sha256:")


def _rescored(week, reference_id):
    """The previewed re-scoring, done here and applied."""
    batch = week.do(rescoring.preview, week.season.as_eva, reference_id, reason="judges have looked")
    with week.office.reading() as session:
        ids = list(session.scalars(select(BatchItem.id).where(BatchItem.batch_id == batch.id)))
    for one in ids:
        comparison.score_item(week.office, one)
    week.do(rescoring.apply, week.season.as_eva, batch.id)


def test_a_teams_words_come_along_without_script_and_in_a_box_of_their_own(tmp_path):
    words = {"component_1": "<b>look</b><script>alert(1)</script>", "component_2": 7, "other": "x"}
    files = summary(words=words)
    write_archive(files.items(), tmp_path / "run.tgz")
    (one,) = write_summaries(tmp_path / "run.tgz", tmp_path)["summaries"]
    assert one["instructions"] == {"component_1": words["component_1"]}
    from basanite.work.items import instruction_blocks

    blocks = instruction_blocks(one["instructions"], '<a href="http://x">general</a>')
    assert [(block.kind, block.title, block.value) for block in blocks] == [
        ("instructions", "general", "general"),
        ("instructions", "component_1", "<b>look</b>"),
    ]


def summary(image=None, words=None, document="MATERIAL_BASE-1A_00000001"):
    """The files of one summary of one query."""
    base = f"query1/FLAIR.Alpha.query1.{document}"
    said = {"image_filename": f"{base}.png"} | ({} if words is None else {"instructions": words})
    rows = f"{document}\tY\t0.9\t{base.partition('/')[2]}.json\nMATERIAL_BASE-1A_00000002\tN\t0.1\n"
    return {
        "query1/query1.tsv": rows.encode(),
        f"{base}.json": json.dumps(said).encode(),
        f"{base}.png": text_picture(["a", "summary"]) if image is None else image,
    }


def with_comment(picture):
    """The same picture with words hidden beside it."""
    held = io.BytesIO()
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Author", "made by team Alpha")
    with Image.open(io.BytesIO(picture)) as opened:
        opened.save(held, "PNG", pnginfo=info)
    return held.getvalue() + b"<script>alert(1)</script>"


def test_what_hides_beside_a_picture_stays_behind(tmp_path):
    hidden = with_comment(text_picture(["a", "summary"]))
    assert b"team Alpha" in hidden
    write_archive(summary(hidden).items(), tmp_path / "run.tgz")
    (one,) = write_summaries(tmp_path / "run.tgz", tmp_path)["summaries"]
    made = (tmp_path / "pictures.bin").read_bytes()
    assert one["length"] == len(made) > 0
    assert b"team Alpha" not in made
    assert b"script" not in made
    with Image.open(io.BytesIO(made)) as new, Image.open(io.BytesIO(hidden)) as old:
        assert new.convert("RGB").tobytes() == old.convert("RGB").tobytes()


@pytest.mark.parametrize(
    "image", [b"", b"GIF89a" + bytes(40), b"<svg/>", text_picture(["x"])[:200]], ids=["empty", "gif", "svg", "cut"]
)
def test_a_picture_that_cannot_be_decoded_is_told_and_left_out(image):
    picture, _, _, fault = plain_picture(Member("query1/FLAIR.Alpha.query1.D.png", image))
    assert picture == b""
    assert fault


def test_a_large_archive_takes_several_runs(tmp_path):
    first = write_summaries(EXAMPLE / "Alpha.tgz", tmp_path, most=3000)
    rest = write_summaries(EXAMPLE / "Alpha.tgz", tmp_path, after=first["next"])
    whole = write_summaries(EXAMPLE / "Alpha.tgz", tmp_path)
    names = [[one["query"], one["document"]] for part in (first, rest) for one in part["summaries"]]
    assert names == [[one["query"], one["document"]] for one in whole["summaries"]]
    assert rest["next"] is whole["next"] is None


def test_a_query_that_nobody_explains_is_told(week):
    panel = week.do(
        setup.create, week.season.as_eva, week.season.campaign_id, setup.NewPanel(SCHEME, name="other", window="dev")
    )
    with pytest.raises(RefusedError, match="no summaries to judge"):
        sources.from_submissions(
            week.office, week.season.as_eva, panel.id, sources.SummaryRuns(queries={}, window="week")
        )
    with pytest.raises(RefusedError):
        sources.from_submissions(week.office, week.season.as_ada, panel.id, sources.SummaryRuns(queries={}))
    assert week.ask(monitor.progress, panel.id).items == 0
    assert week.ask(lambda session, office: adjudication.queue(session, panel.id)) == ()
