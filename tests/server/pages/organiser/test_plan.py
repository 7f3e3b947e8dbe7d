"""Windows, the campaign's file, packs and references on the organisers' pages."""

from __future__ import annotations

import io
import re
import tarfile
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import pytest
from sqlalchemy import select
from tests.server.accounts.conftest import TOKEN
from tests.server.pages.organiser.conftest import DESK, MORE

from basanite.campaign.actions import plans
from basanite.campaign.office import Actor
from basanite.campaign.people import agreements
from basanite.campaign.store.tables import Deviation, PackFile, PlanVersion, Reference, Signature
from basanite.campaign.turns import turn
from basanite.testing import small_campaign_text


def plan_text(**changes):
    text = small_campaign_text(more=MORE)
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def held(stage):
    with stage.office.reading() as session:
        return plans.current(session, stage.season.campaign_id)


@pytest.mark.req("P-27")
def test_a_window_is_extended_with_a_reason_and_everybody_is_told(desk, visit, stage):
    eva = desk()
    wrong = eva.act("/windows", "/windows/dev/extend", closes="2018-04-10T12:00", reason="")
    assert wrong.status_code == 422
    assert "2018-04-10T12:00" in wrong.text, "what was typed stays"
    earlier = eva.act("/windows", "/windows/dev/extend", closes="2018-02-01T12:00", reason="x")
    assert "not later" in earlier.text
    assert (
        "deadline is extended"
        in eva.act("/windows", "/windows/dev/extend", closes="2018-04-10T12:00", reason="a storm").text
    )
    assert f"{held(stage).campaign.window('dev').closes.utc:%Y-%m-%d %H:%M}" == "2018-04-10 16:00"
    assert "a storm" in eva.page("/plan"), "the window had opened, so it is a deviation"
    assert "a storm" in visit().get("/campaigns/small/plan").text
    assert eva.act("/windows", "/windows/none/extend", closes="2018-04-10T12:00", reason="x").status_code == 404


def test_a_milestone_is_done_and_says_so_in_the_calendar(desk, visit):
    eva = desk()
    assert "updated" in eva.act("/windows", "/windows/milestones/kickoff", state="done", note="all were there").text
    assert "all were there" in visit("ada").get("/campaigns/small/calendar").text
    assert eva.act("/windows", "/windows/milestones/kickoff", state="eaten", note="").status_code == 422
    assert eva.act("/windows", "/windows/milestones/none", state="done", note="").status_code == 404


class Filed:
    """The preview of a file, and what its form carries."""

    def __init__(self, desk, text):
        self.desk = desk
        self.answer = desk.upload("/plan", "/plan/preview", text.encode(), "campaign.toml")
        found = re.search(r'name="text" value="([^"]*)"', self.answer.text)
        self.text = found[1] if found else ""
        digest = re.search(r'name="digest" value="([^"]*)"', self.answer.text)
        self.digest = digest[1] if digest else ""

    def keep(self, reason="", **changed):
        token = TOKEN.search(self.answer.text)[1]
        fields = {"csrf": token, "text": self.text, "digest": self.digest, "reason": reason} | changed
        parts = {name: (None, value) for name, value in fields.items()}
        return self.desk.client.post(f"{DESK}/plan", files=parts, headers={"Accept": "text/html"})


@pytest.mark.req("P-28")
def test_a_new_file_is_previewed_with_its_changes_and_deviations_before_it_holds(desk, stage):
    eva = desk()
    filed = Filed(eva, plan_text(**{"count = 3": "count = 4"}))
    assert "<dt><bdi>Quota</bdi></dt><dd><del><bdi>3</bdi></del> → <bdi>4</bdi></dd>" in filed.answer.text
    assert "This causes 1 deviation" in filed.answer.text
    assert held(stage).version == 1, "a preview keeps nothing"
    unexplained = filed.keep()
    assert unexplained.status_code == 422
    assert "changes the frozen plan" in unexplained.text
    assert "Deviations are recorded" in filed.keep("one more was promised").text
    assert held(stage).campaign.window("dev").quota.count == 4
    with stage.office.reading() as session:
        row = session.scalars(select(Deviation)).one()
    assert (row.reason, row.by) == ("one more was promised", stage.season.eva)


@pytest.mark.req("X-22")
def test_previews_wait_for_their_turn_and_one_campaign_does_not_hold_up_another(desk, stage):
    stage.office.settings.reading.waiting = 1
    with ThreadPoolExecutor(2) as pool:
        with turn(stage.office, stage.season.campaign_id, "preview"):
            sent = [pool.submit(Filed, eva, plan_text()) for eva in (desk(), desk())]
            done, late = wait(sent, return_when=FIRST_COMPLETED)
            refused = done.pop().result().answer
            assert refused.status_code == 429
            assert "too many calls of your team are waiting (at most 1)" in refused.text
            with turn(stage.office, "another campaign", "preview"):
                assert not late.pop().done()
        assert sum(bool(one.result().digest) for one in sent) == 1, "it was only late"


FINAL = """
[[windows]]
id = "final"
title = "Final week"
opens = "2018-06-02 00:00"
closes = "2018-06-08 24:00"
tasks = ["CLIR"]
dataset = ["EVAL1", "EVAL2"]
querysets = ["QUERY1"]
languages = ["1A"]
quota = { count = 2, period = "total" }
feedback = "none"
kind = "evaluation"
certification = "7 days"
"""


@pytest.mark.req("P-28")
def test_a_preview_lists_what_is_added_changed_and_removed_in_words(desk, stage):
    text = plan_text(**{'title = "Kick-off"': 'title = "First meeting"'}) + FINAL
    page = Filed(desk(), text).answer.text
    preview = page.partition('id="preview"')[2].partition("</section>")[0]
    assert re.findall(r"<strong><bdi>(.*?)</bdi></strong>.*?>(added|changed|removed)<", preview) == [
        ("Milestone “First meeting”", "changed"),
        ("Window “Final week”", "added"),
    ]
    facts = dict(re.findall(r"<dt><bdi>(.*?)</bdi></dt><dd>(.*?)</dd>", preview))
    assert facts["Title"] == "<bdi>Final week</bdi>"
    assert facts["Certification"] == "<bdi>7 days</bdi>"
    assert facts["Data"] == "<bdi>EVAL1, EVAL2</bdi>"
    assert "{" not in preview, "nobody reads JSON"
    assert "…" not in preview, "nothing is cut off"
    gone = Filed(desk(), plan_text().partition("[[milestones]]")[0])
    assert "Milestone “Kick-off”" in gone.answer.text
    assert ">removed<" in gone.answer.text


def test_a_file_that_touches_nothing_frozen_needs_no_reason_and_keeps_every_byte(desk, stage):
    text = plan_text(**{'title = "Evaluation week"': 'title = "Die Woche – أسبوع"'}) + "# a remark\r\n\t\n"
    filed = Filed(desk(), text)
    assert "no deviations" in filed.answer.text
    assert "The new version is active" in filed.keep().text
    with stage.office.reading() as session:
        assert session.scalars(select(PlanVersion.text).where(PlanVersion.version == 2)).one() == text
    assert desk().client.get(f"{DESK}/plan/2.toml").content == text.encode()
    assert desk().get(f"{DESK}/plan/9.toml").status_code == 404


@pytest.mark.parametrize("content", [b"", b"not = [toml", b"\xff\xfe", b'slug = "other"', b"x" * 200_000])
def test_a_file_that_cannot_be_read_is_refused_with_what_is_wrong(desk, stage, content):
    answer = desk().upload("/plan", "/plan/preview", content, "campaign.toml")
    assert answer.status_code in (413, 422)
    assert held(stage).version == 1


def test_what_was_not_previewed_does_not_hold(desk, stage):
    filed = Filed(desk(), plan_text(**{'title = "Evaluation week"': 'title = "Week"'}))
    assert filed.keep(digest="0" * 64).status_code == 409
    assert filed.keep(text="!").status_code == 422
    assert held(stage).version == 1


@pytest.mark.req("P-7")
def test_files_are_added_to_a_pack_and_encrypted_where_a_key_minute_is_planned(desk, stage):
    eva = desk()
    assert "added to the data pack" in eva.upload("/packs", "/packs/DEV/files", b"documents", "docs.txt").text
    assert "added to the data pack" in eva.upload("/packs", "/packs/EVAL2/files", b"secret documents", "docs.txt").text
    with stage.office.reading() as session:
        rows = {row.pack: row for row in session.scalars(select(PackFile))}
        assert stage.office.files.read(rows["DEV"].digest) == b"documents"
        assert b"secret" not in stage.office.files.read(rows["EVAL2"].digest)
    assert eva.upload("/packs", "/packs/DEV/files", b"again", "docs.txt").status_code == 409
    assert eva.upload("/packs", "/packs/NONE/files", b"again", "docs.txt").status_code == 404
    assert eva.upload("/packs", "/packs/DEV/files", b"", "docs.txt").status_code == 422
    assert "docs.txt.sealed" in eva.page("/packs")


@pytest.mark.req("P-26")
def test_a_signed_agreement_is_looked_at_and_signed_too_or_refused(desk, stage):
    eva, copy = desk(), b"%PDF-1.7 signed"
    first = stage.do(agreements.sign, stage.season.as_ada, stage.season.alpha, "data", copy=copy).id
    second = stage.do(agreements.sign, stage.season.as_bea, stage.season.beta, "data", copy=copy).id
    assert "2 agreements to countersign" in eva.page()
    assert eva.client.get(f"{DESK}/packs/agreements/{first}").content == copy
    assert "executed" in eva.act("/packs", f"/packs/agreements/{first}", accept="yes").text
    assert "declined" in eva.act("/packs", f"/packs/agreements/{second}", accept="no", reason="not signed").text
    with stage.office.reading() as session:
        states = {row.id: row.state for row in session.scalars(select(Signature))}
    assert states == {first: "executed", second: "refused"}
    assert eva.get(f"{DESK}/packs/agreements/none").status_code == 404


def archive(pack, change=None):
    """The key as an archive, with one file changed if wanted."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path in sorted(pack.key.iterdir()):
            data = path.read_bytes()
            info = tarfile.TarInfo(path.name)
            content = data if change is None else change(data)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


@pytest.mark.req("P-7")
def test_a_version_of_the_reference_is_sealed_checked_and_proposed(desk, visit, stage, pack):
    eva, place = desk(), "CLIR|DEV|1A|QUERY1"
    unexplained = eva.upload("/references", "/references", archive(pack), "key.tgz", place=place, reason="")
    assert "needs a reason" in unexplained.text
    added = eva.upload("/references", "/references", archive(pack), "key.tgz", place=place, reason="two labels")
    assert "sealed and proposed" in added.text
    assert "two labels" in added.text
    with stage.office.reading() as session:
        row = session.scalars(select(Reference).where(Reference.version == 2)).one()
        held = session.scalars(select(Reference).where(Reference.state == "active", Reference.dataset == "DEV")).one()
    assert (row.state, row.dataset, row.by) == ("proposed", "DEV", stage.season.eva)
    assert held.files["metadata"]
    assert row.files["metadata"] == held.files["metadata"], "tables of factors go on with the next version"
    assert row.commitment in added.text
    digest = row.files["reference"][0]
    assert digest not in added.text, "a digest would confirm guesses (X-1)"
    assert visit("ada").get(f"{DESK}/references").status_code == 403
    assert not list((stage.office.sealed.folder / "fresh").iterdir()), "nothing of a key is left behind"


@pytest.mark.parametrize(
    ("content", "fields"),
    [(b"", {}), (b"this is not a key", {}), (b"x", {"place": "CLIR|NONE|1A|QUERY1"})],
)
def test_a_reference_that_cannot_be_used_never_opens_a_task(desk, stage, content, fields):
    given = {"place": "CLIR|DEV|1A|QUERY1", "reason": "better"} | fields
    answer = desk().upload("/references", "/references", content, "key.tgz", **given)
    assert answer.status_code == 422
    with stage.office.reading() as session:
        assert session.scalars(select(Reference).where(Reference.version == 2)).all() == []


class TestTwoPeople:
    @pytest.fixture
    def campaign(self):
        third = (
            '[[packs]]\nid = "NEW"\nfamily = "new"\nreleased = "2018-01-01 00:00"\nsealed = false\n'
            '[[windows]]\nid = "new"\ntitle = "New"\nopens = "2018-01-01 00:00"\ncloses = "2018-06-01 00:00"\n'
            'tasks = ["CLIR"]\ndataset = ["NEW"]\nquerysets = ["QUERY1"]\nlanguages = ["1A"]\n'
            'quota = { count = 3 }\nfeedback = "full"\n'
        )
        return {"two_people": ("reference",), "more": MORE + third}

    @pytest.mark.req("X-4")
    def test_the_first_version_of_a_place_waits_for_a_second_organiser(self, desk, stage, pack):
        place = "CLIR|NEW|1A|QUERY1"
        answer = desk().upload("/references", "/references", archive(pack), "key.tgz", place=place, reason="first")
        assert "waits for a second organizer" in answer.text
        with stage.office.reading() as session:
            assert session.scalars(select(Reference.state).where(Reference.dataset == "NEW")).one() == "proposed"
        page = desk("otto").page("/approvals")
        act = re.search(r"/organise/approvals/(\w+)", page)[1]
        desk("otto").act("/approvals", f"/approvals/{act}", agree="yes")
        with stage.office.reading() as session:
            assert session.scalars(select(Reference.state).where(Reference.dataset == "NEW")).one() == "active"


def test_the_command_line_is_named_in_the_record(desk, stage):
    with stage.office.writing() as session:
        plans.extend_window(
            session,
            stage.office,
            Actor("command"),
            "small",
            plans.Extension("week", "2018-04-09 24:00", reason="by hand"),
        )
    assert "the command line" in desk().page("/plan")


@pytest.mark.req("X-23")
def test_organizers_see_how_often_a_team_may_look_and_are_warned_where_nothing_bounds_it(desk, visit):
    eva = desk()
    limited = {"sealed = false": "sealed = true", 'feedback = "full"': 'feedback = "limited"'}
    quiet = Filed(eva, plan_text(**limited))
    assert "on a sealed reference" not in quiet.answer.text
    assert "Deviations are recorded" in quiet.keep("a sealed set").text
    page = eva.page("/windows")
    assert "Accesses to the sealed reference" in page
    assert "10 results per team, then 29 tries on the ladder" in page
    assert "Only the quota" not in page
    assert "After 10 results, your value changes only" in visit("ada").get("/campaigns/small/calendar").text
    limited['feedback = "full"'] += "\nlooks = false\nladder = false"
    open_ = Filed(eva, plan_text(**limited))
    assert "a team can see 39 results of CLIR on a sealed reference" in open_.answer.text
    assert "Deviations are recorded" in open_.keep("an experiment").text
    assert "Only the quota keeps teams from inferring labels" in eva.page("/windows")
