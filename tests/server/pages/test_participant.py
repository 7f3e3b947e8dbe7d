"""What participants do on the site, page by page, without scripts: the same rules as at every other door."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.offices.prepared import small_season
from tests.server.accounts.conftest import PASSWORD, TOKEN, link_in_mail
from tests.server.conftest import fresh_office

from basanite.campaign.actions.releases import LevelRelease, release
from basanite.campaign.jobs import comparison
from basanite.campaign.jobs.queue import QUEUE, client
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people.communication import Letter, announce, answer_question
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import viewer
from basanite.campaign.people.teams import grant_team_maker
from basanite.campaign.results import facts, own_runs
from basanite.campaign.store import files, plans
from basanite.campaign.store.tables import Account, Appeal, Certification, Membership, Question, Submission, Team
from basanite.server.accounts import authentication, sessions
from basanite.server.app import make_app
from basanite.testing import SetClock, small_campaign_text

HOME = "/campaigns/small"
SLOT = "dev|CLIR|1A|"


def send_run(browser, content, *, slot=SLOT, label="mine", kind="contrastive", name="mine.tgz"):
    """Send the form of the submit page with a file, in one piece."""
    token = TOKEN.search(browser.get(f"{HOME}/submit").text)[1]
    fields = {"csrf": token, "slot": slot, "label": label, "type": kind, "description-text": "BM25"}
    return browser.client.post(
        f"{HOME}/submit", data=fields, files={"file": (name, content)}, headers={"Accept": "text/html"}
    )


def newcomer(office, name="Nora"):
    """Somebody who has an account and nothing else."""
    with office.writing() as session:
        person = add_person(session, office, Newcomer(name=name, mail=f"{name.lower()}@example.org"))
        account = session.get_one(Account, person.id)
        account.password, account.confirmed = (
            authentication.hash_password(office.settings.accounts, PASSWORD),
            office.clock(),
        )
        return person.id


@pytest.mark.req("P-6", case="good")
def test_a_run_sent_by_the_plain_form_is_a_submission_with_a_receipt(visit, stage, pack):
    browser = visit("ada")
    answer = send_run(browser, pack.perfect.read_bytes(), kind="primary")
    assert answer.status_code == 200
    assert "Your submission has arrived" in answer.text
    with stage.office.reading() as session:
        row = session.scalars(select(Submission)).one()
    assert (row.door, row.type, row.label, row.window) == ("web", "primary", "mine", "dev")
    assert row.sha256 == hashlib.sha256(pack.perfect.read_bytes()).hexdigest()
    assert str(answer.url).endswith(row.id)
    stage.work(row.id, "perfect")
    page = browser.get(f"{HOME}/submissions/{row.id}").text
    assert "1.0000" in page
    assert browser.client.get(f"/api/v1{HOME}/submissions/{row.id}/receipts/intake").status_code == 200


@pytest.mark.req("P-6", case="bad")
def test_what_cannot_be_submitted_is_refused_and_the_form_keeps_what_was_typed(visit, stage, pack):
    browser = visit("ada")
    for wrong in (
        {"slot": "none|CLIR|1A|"},
        {"slot": ""},
        {"label": "with-hyphen"},
        {"label": "other"},
        {"slot": "week|CLIR|1A|"},
    ):
        answer = send_run(browser, pack.perfect.read_bytes(), **wrong)
        assert answer.status_code in (409, 422), wrong
        assert "attention" in answer.text
        assert "BM25" in answer.text, "what was typed stays"
    assert send_run(browser, b"").status_code == 422
    with stage.office.reading() as session:
        assert session.scalars(select(Submission)).all() == []
    assert not list((stage.office.settings.data / "uploads").glob("form-*")), "nothing is left behind"


def test_without_a_label_the_file_tells_it(visit, stage, pack):
    send_run(visit("ada"), pack.perfect.read_bytes(), label="", name="BM25stem.tgz")
    with stage.office.reading() as session:
        assert session.scalars(select(Submission.label)).one() == "BM25stem"


@pytest.mark.req("P-11")
def test_an_upload_without_our_token_is_refused_before_a_byte_is_kept(visit, stage):
    browser = visit("ada")
    files = {"file": ("run.tgz", b"x" * 100_000)}
    answer = browser.client.post(f"{HOME}/submit", data={"slot": SLOT, "label": "x"}, files=files)
    assert answer.status_code == 403
    assert not list((stage.office.settings.data / "uploads").glob("form-*"))


DOMAINS = """[[domains]]
codes = ["GOV"]
released = "2017-10-18 00:00"
languages = ["1A"]

[[domains]]
codes = ["LIF"]
released = "2038-01-01 00:00"
languages = ["1A"]
"""


@pytest.mark.req("M87")
def test_the_page_of_data_describes_the_domains_that_are_known_by_now(tmp_path):
    office = fresh_office(tmp_path, SetClock())
    made = small_season(office, small_campaign_text(more=DOMAINS))
    with office.writing() as session:
        cookie = sessions.start(session, office, made.ada)
    client = TestClient(make_app(office), cookies={sessions.cookie_name(office): cookie})
    page = client.get(f"{HOME}/packs").text
    for words in ("Government And Politics", "How places and countries are governed", "What is in scope"):
        assert words in page
    assert "LIF" not in page
    office.close()


@pytest.mark.req("P-11")
def test_an_upload_by_form_does_not_begin_where_there_is_no_room_for_it(visit, stage, monkeypatch):
    monkeypatch.setattr(files, "SPARE", 2**62)
    answer = send_run(visit("ada"), b"x" * 1000)
    assert answer.status_code == 507
    assert "disk is full" in answer.text


@pytest.mark.req("P-11")
def test_an_upload_over_the_limit_is_refused_and_removed(visit, stage, monkeypatch):
    browser = visit("ada")
    from basanite.server.pages import submit

    real = submit.read_upload_form
    monkeypatch.setattr(submit, "read_upload_form", lambda request, folder, largest: real(request, folder, 1000))
    assert send_run(browser, b"x" * 1001).status_code == 413
    assert not list((stage.office.settings.data / "uploads").glob("form-*"))


@pytest.mark.parametrize(
    "body",
    [b"", b"--x\r\n", b"--x\r\nContent-Disposition: form-data\r\n\r\nabc\r\n--x--\r\n", b"\0" * 5000, b"--x--"],
)
def test_a_form_that_is_none_is_refused_without_a_fault_of_ours(visit, body):
    browser = visit("ada")
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Accept": "text/html"}
    assert browser.client.post(f"{HOME}/submit", content=body, headers=headers).status_code in (403, 422)
    plain = {"Content-Type": "text/plain", "Accept": "text/html"}
    assert browser.client.post(f"{HOME}/submit", content=body, headers=plain).status_code == 415


@pytest.mark.req("P-6")
def test_the_calendar_tells_what_is_left_when_it_resets_and_what_opens_next(visit, stage):
    browser = visit("ada")
    before = browser.get(f"{HOME}/calendar").text
    assert re.search(r'class="big">3</span> <span class="muted">of 3 left', before)
    assert "resets in 6 days" in before
    stage.submit(file="perfect", kind="contrastive")
    after = browser.get(f"{HOME}/calendar").text
    assert re.search(r'class="big">2</span>', after)
    assert "Evaluation week" in after
    feed = re.search(r'href="([^"]+\.ics)"', after)[1]
    assert b"BEGIN:VCALENDAR" in browser.client.get(feed).content


@pytest.mark.req("P-27")
def test_times_stand_in_the_campaigns_zone_in_utc_and_in_the_readers(visit):
    page = visit("ada").get(f"{HOME}/calendar").text
    assert "Mon 2 Apr 2018, 00:00 EDT" in page
    assert "04:00 UTC · 06:00 CEST" in page


@pytest.mark.req("P-6")
def test_problems_are_shown_with_their_lines_and_cures(visit, stage):
    run = stage.submit(file="invalid", kind="contrastive")
    page = visit("alan").get(f"{HOME}/submissions/{run}").text
    assert "not valid" in page
    assert "M29" in page
    assert re.search(r"query\w*\.tsv</bdi>:\d+", page)


@pytest.mark.req("P-5")
def test_submissions_of_another_team_do_not_exist(visit, stage):
    run = stage.submit(team="beta", file="perfect")
    browser = visit("ada")
    for part in ("", "/state"):
        assert browser.get(f"{HOME}/submissions/{run}{part}").status_code == 404
    assert "Beta" not in browser.get(f"{HOME}/submissions").text


@pytest.mark.req("P-6")
def test_the_state_is_asked_for_and_changes(visit, stage, pack):
    browser = visit("ada")
    send_run(browser, pack.perfect.read_bytes())
    with stage.office.reading() as session:
        run = session.scalars(select(Submission.id)).one()
    page = browser.get(f"{HOME}/submissions/{run}").text
    assert f'data-live="{HOME}/submissions/{run}/state"' in page
    assert '<meta http-equiv="refresh"' in page, "without scripts the page loads itself again"
    first = browser.get(f"{HOME}/submissions/{run}/state").json()
    stage.work(run, "perfect")
    then = browser.get(f"{HOME}/submissions/{run}/state").json()
    assert (first["state"], first["final"], first["ahead"]) == ("received", False, 0)
    assert (then["state"], then["final"], then["ahead"]) == ("scored", True, None)


@pytest.mark.req("P-6")
def test_in_a_blind_week_no_page_of_a_team_shows_a_value(visit, stage, clock):
    clock.set("2018-04-03 12:00")
    perfect = stage.submit(file="perfect", label="perfect")
    silent = stage.submit(file="silent", label="silent", kind="contrastive")
    browser = visit("ada")
    for path in ("", "/submissions", "/leaderboard?of=week|CLIR|1A|", "/compare", "/certification/week"):
        page = browser.get(HOME + path).text
        assert "1.0000" not in page, path
        assert "0.0000" not in page, path
    pages = [browser.get(f"{HOME}/submissions/{run}").text for run in (perfect, silent)]
    assert all("accepted" in page and "aqwv" not in page.lower() for page in pages)


def test_a_withdrawn_run_says_so_and_needs_a_reason(visit, stage):
    run = stage.submit(file="perfect")
    browser, path = visit("ada"), f"{HOME}/submissions/{{}}"
    page = path.format(run)
    assert browser.send(page, f"{page}/withdraw", reason="").status_code == 422
    assert "withdrawn" in browser.send(page, f"{page}/withdraw", reason="a bug of ours").text


@pytest.mark.req("P-6")
def test_own_runs_are_compared_side_by_side(visit, stage):
    runs = [stage.submit(file=name, label=name, kind="contrastive") for name in ("silent", "perfect")]
    page = visit("ada").get(f"{HOME}/compare?run={runs[1]}&run={runs[0]}").text
    assert "+1.0000" in page
    other = stage.submit(team="beta", file="perfect")
    assert other not in visit("ada").get(f"{HOME}/compare?run={other}&run={runs[0]}").text


@pytest.mark.req("P-18")
def test_a_paired_test_of_own_runs_is_asked_for_waited_for_and_read(visit, stage):
    runs = [stage.submit(file=name, label=name, kind="contrastive") for name in ("silent", "perfect")]
    browser, page = visit("ada"), f"{HOME}/compare?run={runs[0]}&run={runs[1]}"
    state = f"{HOME}/compare/state?run={runs[0]}&run={runs[1]}"
    assert "Run paired test" in browser.get(page).text
    waiting = browser.send(page, f"{HOME}/compare", run=runs)
    assert "is being computed" in waiting.text
    assert state.replace("&", "&amp;") in waiting.text
    assert browser.client.get(state).json()["state"] == "computing"
    with stage.office.reading() as session:
        seen = viewer(session, stage.season.campaign_id, stage.season.ada)
        order = own_runs._chosen(session, stage.office, seen, stage.season.campaign_id, runs).order()
    assert comparison.compare(stage.office, **asdict(order)) == "there"
    assert browser.client.get(state).json()["state"] == "there"
    told = browser.get(page).text
    assert "Adjusted p" in told
    assert re.search(r"[+−]1\.0000", told)
    other = stage.submit(team="beta", file="perfect")
    assert browser.send(page, f"{HOME}/compare", run=[runs[0], other]).status_code == 404


@pytest.mark.req("X-22")
def test_comparisons_that_a_team_asks_for_wait_behind_its_own_jobs_and_nobody_elses(visit, stage):
    whose = {}
    for who, team in (("ada", "alpha"), ("bea", "beta")):
        runs = [stage.submit(team=team, file=name, label=name, kind="contrastive") for name in ("silent", "perfect")]
        page = f"{HOME}/compare?run={runs[0]}&run={runs[1]}"
        before = {job.workflow_id for job in client(stage.office).list_workflows(queue_name=QUEUE)}
        assert "is being computed" in visit(who).send(page, f"{HOME}/compare", run=runs).text
        after = [job for job in client(stage.office).list_workflows(queue_name=QUEUE) if job.workflow_id not in before]
        whose[team] = [(job.name, job.queue_partition_key) for job in after]
    assert whose == {name: [("compare", getattr(stage.season, name))] for name in ("alpha", "beta")}


@pytest.mark.req("S-29")
def test_a_paired_test_says_the_reason_of_its_verdict_and_has_the_sign_of_the_table_above(visit, stage):
    runs = [stage.submit(file=name, label=name, kind="contrastive") for name in ("silent", "perfect")]
    browser = visit("ada")
    with stage.office.reading() as session:
        seen = viewer(session, stage.season.campaign_id, stage.season.ada)
        order = own_runs._chosen(session, stage.office, seen, stage.season.campaign_id, runs).order()
    assert comparison.compare(stage.office, **asdict(order)) == "there"
    for first, second, gap in ((*runs, "−1.0000"), (*runs[::-1], "+1.0000")):
        told = browser.get(f"{HOME}/compare?run={first}&run={second}").text
        assert set(re.findall(r"[-+−]1\.0000", told)) == {gap}, "one difference, one sign"
        assert told.count(gap) == 2, "beside the values, and in the test"
        assert re.search(r"inconclusive</strong>: <bdi>only \d+ of \d+ units differ, so an adjusted p", told)
        assert " disagree" not in told
        assert not re.search(r"query\d", told), "no unit is named to a team"


@pytest.mark.req("P-18")
def test_a_result_is_shown_with_its_curves_and_their_tables(visit, stage):
    page = visit("ada").get(f"{HOME}/submissions/{stage.submit(file='perfect')}").text
    for title in ("Value over threshold", "Misses against false alarms (DET)", "Where the value is lost"):
        assert title in page
    assert len(re.findall(r"<svg[^>]* aria-hidden", page)) >= 2
    assert "Data table" in page


def test_the_page_of_a_submission_loads_the_plan_once_and_asks_the_policy_once(visit, stage, monkeypatch):
    run, browser = stage.submit(file="perfect"), visit("ada")
    loaded, asked, parse, policy = [], [], plans.parse_plan, facts.sight
    monkeypatch.setattr(plans, "parse_plan", lambda text: loaded.append(text) or parse(text))
    monkeypatch.setattr(facts, "sight", lambda *given: asked.append(given) or policy(*given))
    page = browser.get(f"{HOME}/submissions/{run}")
    assert "1.0000" in page.text
    assert (len(loaded), len(asked)) == (1, 1)


@pytest.mark.req("P-24")
def test_a_pi_certifies_or_appeals_and_a_member_only_looks(visit, stage, clock):
    clock.set("2018-04-03 12:00")
    run = stage.submit(file="perfect")
    clock.set("2018-04-10 12:00")
    with stage.office.writing() as session:
        release(
            session,
            stage.office,
            Actor(stage.season.eva),
            stage.season.campaign_id,
            LevelRelease("week", "certification"),
        )
    page = f"{HOME}/certification/week"
    member, pi = visit("alan"), visit("ada")
    assert "Your PI certifies" in member.get(page).text
    assert member.send("/account", page).status_code == 403
    assert "1.0000" in pi.get(page).text
    assert "certification/week" in pi.get(HOME).text, "it waits on the first page"
    appeal = pi.send(page, f"{page}/appeals", text="Document 7 is wrong", submission=run)
    assert "appeal 1" in appeal.text
    assert "certified" in pi.send(page).text
    with stage.office.reading() as session:
        assert session.scalars(select(Appeal)).one().submission_id == run
        assert session.scalars(select(Certification)).one().team_id == stage.season.alpha


@pytest.mark.req("P-10")
def test_leading_a_team_takes_an_organisers_leave(visit, stage):
    person = newcomer(stage.office)
    browser, page = visit("nora"), f"{HOME}/team"
    assert "Ask to lead" in browser.get(page).text
    assert browser.send(page, f"{page}/make", name="Gamma").status_code == 403
    assert "have your request" in browser.send(page, f"{page}/lead", text="We are new").text
    with stage.office.writing() as session:
        grant_team_maker(session, stage.office, Actor(stage.season.eva), stage.season.campaign_id, person)
    made = browser.send(page, f"{page}/make", name="Gamma Rays", site="Lab")
    assert "Gamma Rays" in made.text
    assert "you are the PI" in made.text


@pytest.mark.req("P-34")
def test_a_place_in_a_team_is_asked_for_given_handed_over_and_left(visit, stage):
    person = newcomer(stage.office)
    nora, ada, page = visit("nora"), visit("ada"), f"{HOME}/team"
    assert "asked" in nora.send(page, f"{page}/join", team=stage.season.alpha, site="Lab").text
    assert "asks to join" in ada.get(page).text
    with stage.office.reading() as session:
        row = session.scalars(select(Membership.id).where(Membership.person_id == person)).one()
    assert "new member" in ada.send(page, f"{page}/decide", membership=row, accept="yes").text
    assert "new PI" in ada.send(page, f"{page}/hand-over", person=person).text
    assert "you are the PI" in nora.get(page).text
    assert ada.send(page, f"{page}/invite", mail="x@example.org").status_code == 403
    ada.send(page, f"{page}/leave")
    assert "Take part" in ada.get(page).text


@pytest.mark.req("X-11")
def test_an_invitation_works_for_the_account_it_was_sent_to_alone(visit, stage):
    newcomer(stage.office)
    newcomer(stage.office, "Oscar")
    ada, page = visit("ada"), f"{HOME}/team"
    ada.send(page, f"{page}/invite", mail="nora@example.org")
    link = link_in_mail(stage.office, "invited")
    assert visit("oscar").get(link).status_code == 404
    nora = visit("nora")
    path = str(nora.get(link).url.path)
    assert "Alpha" in nora.send(path, accept="yes").text
    assert nora.get(path).status_code == 404, "none left"


@pytest.mark.req("X-4")
def test_the_evaluation_team_cannot_take_part(visit, stage):
    eva, page = visit("eva"), f"{HOME}/team"
    assert eva.send(page, f"{page}/join", team=stage.season.alpha).status_code in (403, 409)
    assert eva.send(page, f"{page}/lead", text="me too").status_code in (403, 409)


@pytest.mark.req("P-26")
def test_rules_are_accepted_before_anything_is_submitted(visit, stage):
    newcomer(stage.office)
    nora, page = visit("nora"), f"{HOME}/packs"
    assert "I accept these rules" in nora.get(page).text
    assert nora.send(page, f"{page}/rules", rules="usage", version="0").status_code in (404, 409, 422)
    assert "I accept these rules" not in nora.send(page, f"{page}/rules", rules="usage", version="1").text


@pytest.mark.req("P-34")
def test_news_are_new_until_they_are_read(visit, stage):
    with stage.office.writing() as session:
        announce(
            session, stage.office, COMMAND, stage.season.campaign_id, Letter(title="Hello", text="The data is out.")
        )
    browser, page = visit("ada"), f"{HOME}/announcements"
    assert 'class="badge">1' in browser.get(HOME).text
    assert "The data is out." in browser.get(page).text
    browser.send(page, f"{page}/read")
    assert 'class="badge"' not in browser.get(HOME).text
    assert "The data is out." in visit().get(page).text, "what is for everybody is for visitors too"


@pytest.mark.req("P-34")
def test_a_question_is_public_once_it_is_answered_and_never_tells_who_asked(visit, stage):
    ada, page = visit("ada"), f"{HOME}/questions"
    ada.send(page, text="May we use dictionaries?")
    assert "dictionaries" not in visit("bea").get(page).text
    with stage.office.writing() as session:
        question = session.scalars(select(Question)).one()
        answer_question(session, stage.office, Actor(stage.season.eva), question.id, "Yes, declared.")
    shown = visit("bea").get(page).text
    assert "Yes, declared." in shown
    assert "Ada" not in shown


@pytest.mark.req("P-25")
def test_the_pi_decides_about_the_name_in_public(visit, stage):
    ada, page = visit("ada"), f"{HOME}/team"
    ada.send(page, f"{page}/naming", agrees="yes")
    with stage.office.reading() as session:
        assert session.get_one(Team, stage.season.alpha).named_consent is not None
    ada.send(page, f"{page}/naming", agrees="no")
    with stage.office.reading() as session:
        assert session.get_one(Team, stage.season.alpha).named_consent is None


def test_a_page_that_is_not_there_and_one_that_is_not_yours_say_so(visit):
    ada = visit("ada")
    assert "Page not found" in ada.get("/no/such/page").text
    assert "Page not found" in ada.get(f"{HOME}/submissions/none").text
    signed_out = visit().get(f"{HOME}/submissions")
    assert signed_out.status_code == 401
    assert "/sign-in?then=/campaigns/small/submissions" in signed_out.text


def test_a_fault_of_ours_is_a_page_with_a_number_and_nothing_else(visit, monkeypatch, app):
    from starlette.testclient import TestClient

    from basanite.server.pages import campaign as calendar

    def broken(*_):
        raise RuntimeError("a secret of the database")

    monkeypatch.setattr(calendar, "rows", broken)
    answer = TestClient(app, raise_server_exceptions=False).get(f"{HOME}/calendar", headers={"Accept": "text/html"})
    assert answer.status_code == 500
    assert answer.headers["x-request-id"] in answer.text
    assert "a secret" not in answer.text


@pytest.mark.parametrize("chosen", ["light", "dark", ""])
def test_colours_are_chosen_without_scripts_and_kept(visit, chosen):
    browser = visit()
    page = browser.send("/", "/preferences/theme", theme=chosen, then="/").text
    assert (f'data-theme="{chosen}"' in page) == bool(chosen)


def test_what_pages_share_may_be_kept_for_ever_and_pages_never(visit):
    browser = visit()
    page = browser.get("/")
    assert page.headers["cache-control"] == "no-store"
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text):
        answer = browser.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert browser.get("/static/../app.py").status_code == 404


def test_the_description_of_a_run_is_written_later(visit, stage):
    run = stage.submit(file="perfect")
    browser, page = visit("alan"), f"{HOME}/submissions/{run}"
    assert "Two towers" in browser.send(page, f"{page}/describe", **{"description-text": "Two towers"}).text
    assert browser.send(page, f"{page}/describe", **{"description-text": "x" * 30_000}).status_code == 422
    other = visit("bea")
    assert other.send("/account", f"{page}/describe", **{"description-text": "x"}).status_code == 404


@pytest.mark.req("P-26")
def test_data_open_with_the_executed_agreement_and_deletion_is_certified(app, office, clock, pack):
    from starlette.testclient import TestClient
    from tests.server.accounts.conftest import Browser
    from tests.server.pages.conftest import give_passwords

    from basanite.campaign.actions.packs import NewFile, add_file, find_pack
    from basanite.campaign.people.agreements import ask_for_deletion, counter_sign
    from basanite.campaign.store.plans import in_force
    from basanite.campaign.store.tables import Download, Signature
    from basanite.testing import small_campaign_text

    licence = '[[agreements]]\nid = "data"\ntitle = "Data licence"\nversion = "2"\ntext = "Keep it."\n'
    text = small_campaign_text(more=licence).replace('id = "DEV"', 'id = "DEV"\nagreement = "data"')
    small = small_season(office, text)
    give_passwords(office, small)
    with office.writing() as session:
        campaign = in_force(session, small.campaign_id).campaign
        file = add_file(
            session, office, Actor(small.eva), small.campaign_id, find_pack(campaign, "DEV"), NewFile(pack.queries)
        )
    browser, page = Browser(TestClient(app)), f"{HOME}/packs"
    browser.sign_in("ada@example.org")
    download = f"{page}/files/{file.id}"
    assert browser.get(download).status_code == 403
    assert "not available to you" in browser.get(page).text
    token = TOKEN.search(browser.get(page).text)[1]

    def sign(content):
        files = {"copy": ("signed.pdf", content)}
        return browser.client.post(f"{page}/agreements/data", data={"csrf": token}, files=files)

    assert sign(b"no paper").status_code == 422
    assert sign(b"%PDF-1.7 signed").status_code == 200
    with office.writing() as session:
        signature = session.scalars(select(Signature)).one().id
        counter_sign(session, office, Actor(small.eva), signature)
    answer = browser.get(download)
    assert answer.content == pack.queries.read_bytes()
    with office.reading() as session:
        assert session.scalars(select(Download)).one().person_id == small.ada
    with office.writing() as session:
        ask_for_deletion(session, office, Actor(small.eva), signature)
    assert browser.get(download).status_code == 403
    assert "Certify deletion of data" in browser.get(page).text
    browser.send(page, f"{page}/deletions/{signature}")
    with office.reading() as session:
        assert session.get_one(Signature, signature).deletion_certified is not None
