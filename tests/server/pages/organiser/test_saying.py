"""Announcements, answers, mails to roles, webhooks, the log and the export on the organisers' pages."""

from __future__ import annotations

import io
import re
import tarfile

import pytest
from sqlalchemy import select, text, update
from tests.server.pages.organiser.conftest import DESK

from basanite.campaign.people.communication import ask_question
from basanite.campaign.store.tables import Announcement, Event, Message, Question, Webhook


@pytest.mark.req("P-34")
def test_something_is_announced_to_everybody_and_read(desk, visit):
    eva = desk()
    wrong = eva.act("/announcements", title="", text="Lunch\nat noon", audience="everybody")
    assert wrong.status_code == 422
    assert "Lunch\nat noon" in wrong.text, "what was typed stays"
    eva.act("/announcements", title="Lunch", text="At noon.\nBring a spoon.", audience="everybody", mail="yes")
    page = visit("ada").get("/campaigns/small/announcements").text
    assert "At noon.\nBring a spoon." in page
    eva.act("/announcements", title="For us", text="Only us", audience="evaluation")
    assert "Only us" not in visit("ada").get("/campaigns/small/announcements").text


@pytest.mark.req("P-34")
def test_a_question_is_answered_for_everybody_or_for_the_asker_alone(desk, visit, stage):
    first = stage.do(ask_question, stage.season.as_ada, stage.season.campaign_id, "Which week?").id
    second = stage.do(ask_question, stage.season.as_ada, stage.season.campaign_id, "Is my file fine?").id
    eva = desk()
    page = eva.page("/questions")
    assert "2 questions have no answer" in page
    assert "Ada" in page
    assert eva.act("/questions", f"/questions/{first}", answer="").status_code == 422
    eva.act("/questions", f"/questions/{first}", answer="The second of April.", shown="yes")
    eva.act("/questions", f"/questions/{second}", answer="It is.", shown="no")
    others = visit("bea").get("/campaigns/small/questions").text
    assert "The second of April." in others
    assert "Is my file fine?" not in others
    assert "Ada" not in others
    assert eva.act("/questions", "/questions/none", answer="x").status_code == 404


@pytest.mark.req("P-34")
def test_a_mail_to_a_role_is_sent_exactly_as_it_was_previewed(desk, stage):
    eva = desk()
    seen = eva.act("/mail", "/mail/preview", audience="pis", title="A reminder", text="Please submit.\nSoon.")
    assert "2 people" in seen.text
    assert "Ada" in seen.text
    assert "Alan" not in seen.text
    fields = dict(re.findall(r'name="(carried|key)" value="([^"]*)"', seen.text))
    with stage.office.reading() as session:
        before = len(session.scalars(select(Message)).all())
    assert eva.act("/mail", **{**fields, "key": "0" * 64}).status_code == 409
    assert eva.act("/mail", carried="x", key="y").status_code == 422
    assert "email is sent" in eva.act("/mail", **fields).text
    with stage.office.reading() as session:
        rows = session.scalars(select(Message).where(Message.template == "to_role")).all()
        assert len(session.scalars(select(Message)).all()) == before + 2
    assert {row.person_id for row in rows} == {stage.season.ada, stage.season.bea}
    assert {row.data["text"] for row in rows} == {"Please submit.\nSoon."}
    assert eva.act("/mail", "/mail/preview", audience="nobody", title="x", text="y").status_code == 422


@pytest.mark.req("X-35")
@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8300", "2130706433", "[::1]", "localhost", "10.0.0.1", "192.88.99.1", "[2001:20::1]", "[3fff::1]"],
)
def test_a_webhook_to_an_address_that_is_not_public_is_refused_when_it_is_added(desk, host):
    answer = desk("eva").act("/webhooks", url=f"https://{host}/hook", kinds=["results_released"])
    assert answer.status_code == 422
    assert "the address is not public" in answer.text
    assert "https://example.org/hook" in answer.text, "how to write one"


@pytest.mark.req("X-10")
def test_a_webhook_is_added_shows_its_secret_once_and_is_ended_after_a_confirmation(desk, stage):
    eva = desk()
    for url in ("http://example.org/x", "nonsense"):
        answer = eva.act("/webhooks", url=url, kinds=["results_released"])
        assert answer.status_code == 422, url
    assert eva.act("/webhooks", url="https://example.org/hook").status_code == 422, "of nothing"
    made = eva.act("/webhooks", url="https://example.org/hook", kinds=["results_released"])
    secret = re.search(r'class="secret">([0-9a-f]+)<', made.text)[1]
    assert secret not in eva.page("/webhooks")
    with stage.office.reading() as session:
        hook = session.scalars(select(Webhook.id)).one()
    assert "https://example.org/hook" in eva.page(f"/webhooks/{hook}/end")
    assert "no longer called" in eva.act(f"/webhooks/{hook}/end").text
    assert eva.get(f"{DESK}/webhooks/{hook}/end").status_code == 404


@pytest.mark.req("P-7")
def test_the_audit_trail_is_filtered_paged_and_checked(desk, stage):
    for number in range(60):
        stage.do(
            ask_question, stage.season.as_ada, stage.season.campaign_id, f"Question {number}"
        ) if number < 20 else None
        desk_event(stage, number)
    eva = desk()
    page = eva.page("/log")
    older = re.search(r'href="([^"]*after=\d+)"', page)[1]
    assert "question.asked" in eva.page("/log?kind=question")
    assert "question.asked" not in eva.page("/log?kind=test")
    first, second = (set(re.findall(r'<td class="num"[^>]*>(\d+)</td>', text)) for text in (page, eva.get(older).text))
    assert len(first) == 50
    assert second
    assert not first & second, "nothing is shown twice"
    assert "entries is intact" in eva.act("/log").text
    with stage.office.writing() as session:  # somebody who has the database file can do this
        _drop_guards(session, stage.office)
        session.execute(update(Event).where(Event.sequence == 3).values(actor="somebody else"))
    assert "broken at: 3" in eva.act("/log").text


def _drop_guards(session, office):
    if not office.database.is_sqlite:
        for table in ("events", "receipts"):
            session.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        return
    for trigger in session.scalars(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
        session.execute(text(f"DROP TRIGGER {trigger}"))


def desk_event(stage, number):
    from basanite.campaign.store import events

    with stage.office.writing() as session:
        events.record(
            session,
            "test.happened",
            at=stage.office.clock(),
            actor=stage.season.eva,
            subject=str(number),
            campaign_id=stage.season.campaign_id,
        )


@pytest.mark.req("P-7", "P-21")
def test_the_export_is_an_archive_without_personal_data_and_leaves_nothing_behind(desk, stage):
    stage.submit(file="perfect")
    eva = desk()
    answer = eva.act("/export")
    assert answer.headers["content-type"] == "application/gzip"
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as tar:
        names = tar.getnames()
        text = b"".join(tar.extractfile(one).read() for one in tar.getmembers() if one.isfile())
    assert any("rows" in name for name in names)
    assert b"ada@example.org" not in text
    assert not list((stage.office.settings.data / "exports").iterdir())


def test_nothing_is_said_before_a_form_of_ours_was_sent(desk, stage):
    eva = desk()
    for path in ("/announcements", "/mail", "/webhooks", "/export", "/log", "/people/grant", "/release/week/top"):
        assert eva.client.post(DESK + path, data={"title": "x"}).status_code == 403, path
    with stage.office.reading() as session:
        assert session.scalars(select(Announcement)).all() == []
        assert session.scalars(select(Question)).all() == []
