"""Announcements, questions, mails to roles, webhooks set by organisers (P-34, X-10)."""

import pytest
from sqlalchemy import select

from basanite.campaign.model.policy import VISITOR
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.communication import (
    AUDIENCES,
    Letter,
    add_webhook,
    announce,
    announcements,
    answer_question,
    ask_question,
    end_webhook,
    mark_read,
    people_of,
    preview_mail,
    questions,
    send_mail,
    unread_count,
    webhooks,
)
from basanite.campaign.people.membership import ask_to_join
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import Message


def seen_by(town, person):
    return town.ask(viewer, town.campaign, person)


def receivers(town, template):
    with town.office.reading() as session:
        return sorted(row.person_id for row in session.scalars(select(Message).where(Message.template == template)))


def test_an_announcement_is_mailed_and_counts_as_unread_until_read(both_towns):
    town = both_towns
    row = town.act(announce, town.small.as_eva, town.campaign, Letter(title="Hello", text="We begin.", audience="pis"))
    assert receivers(town, "announced") == sorted([town.small.ada, town.small.bea])
    ada, alan = seen_by(town, town.small.ada), seen_by(town, town.small.alan)
    assert (town.ask(unread_count, town.campaign, ada), town.ask(unread_count, town.campaign, alan)) == (1, 0)
    town.act(mark_read, ada, row.id)
    town.act(mark_read, ada, row.id)
    assert town.ask(unread_count, town.campaign, ada) == 0
    assert [said.read for said in town.ask(announcements, town.campaign, ada)] == [True]
    with pytest.raises(RefusedError) as refusal:
        town.act(mark_read, alan, row.id)
    assert refusal.value.status == 404


def test_only_organisers_announce_and_with_words(town):
    with pytest.raises(RefusedError):
        town.act(announce, town.small.as_ada, town.campaign, Letter(title="Hello", text="We begin."))
    with pytest.raises(RefusedError) as refusal:
        town.act(announce, town.small.as_eva, town.campaign, Letter(title="a\nb", text="", audience="nobody"))
    assert len(refusal.value.problems) == 3


def test_a_question_is_public_once_answered_and_does_not_say_who_asked(town):
    row = town.act(ask_question, town.small.as_ada, town.campaign, "May we use a dictionary?")
    bea, ada = seen_by(town, town.small.bea), seen_by(town, town.small.ada)
    assert town.ask(questions, town.campaign, bea) == ()
    assert [one.id for one in town.ask(questions, town.campaign, ada)] == [row.id]
    with pytest.raises(RefusedError):
        town.act(answer_question, town.small.as_ada, row.id, "Yes")
    town.act(answer_question, town.small.as_eva, row.id, "Yes.")
    assert [one.answer for one in town.ask(questions, town.campaign, VISITOR)] == ["Yes."]
    assert receivers(town, "question_asked") == sorted([town.small.eva, town.small.otto])
    with town.office.reading() as session:
        mails = session.scalars(select(Message).where(Message.template == "question_asked")).all()
        assert all(town.small.ada not in str(mail.data) for mail in mails)


def test_an_answer_for_the_asker_alone_stays_private(town):
    row = town.act(ask_question, town.small.as_ada, town.campaign, "Did you get our copy?")
    town.act(answer_question, town.small.as_eva, row.id, "Yes.", shown=False)
    assert town.ask(questions, town.campaign, VISITOR) == ()
    assert len(town.ask(questions, town.campaign, seen_by(town, town.small.ada))) == 1


TO_ROLE = "The week begins.\n\nThe campaign:\nhttp://127.0.0.1:8000/campaigns/small"


def test_a_mail_to_a_role_is_previewed_and_goes_out_once_as_previewed(town):
    words = {"audience": "teams", "title": "Reminder", "text": "The week begins."}
    seen = town.act(preview_mail, town.small.as_eva, town.campaign, Letter(**words))
    assert set(seen.persons) == {town.small.ada, town.small.alan, town.small.bea}
    assert (seen.subject, seen.body) == ("A small season: Reminder", TO_ROLE)
    assert receivers(town, "to_role") == []
    with pytest.raises(RefusedError, match="changed"):
        town.act(send_mail, town.small.as_eva, town.campaign, Letter(**{**words, "text": "Other."}), key=seen.key)
    town.act(send_mail, town.small.as_eva, town.campaign, Letter(**words), key=seen.key)
    town.act(send_mail, town.small.as_eva, town.campaign, Letter(**words), key=seen.key)
    assert receivers(town, "to_role") == sorted(seen.persons)
    with pytest.raises(RefusedError):
        town.act(preview_mail, town.small.as_ada, town.campaign, Letter(**words))


def test_audiences_follow_role_and_status(town):
    carl = town.person("Carl")
    town.act(ask_to_join, carl, town.small.alpha)
    found = {name: set(town.ask(people_of, town.campaign, name)) for name in AUDIENCES}
    assert found["pis"] == found["without-submission"] == {town.small.ada, town.small.bea}
    assert found["asking"] == {carl.id}
    assert found["evaluation"] == {town.small.eva, town.small.otto}
    assert found["rules-not-accepted"] == set()
    assert found["everybody"] == found["teams"] | found["evaluation"]


def test_webhooks_are_set_by_organisers_with_a_secret_shown_once(town):
    options = {"url": "https://example.org/hook", "kinds": ["results_released"]}
    with pytest.raises(RefusedError):
        town.act(add_webhook, town.small.as_ada, town.campaign, **options)
    made = town.act(add_webhook, town.small.as_eva, town.campaign, **options)
    assert len(bytes.fromhex(made.secret)) == 32
    (row,) = town.ask(webhooks, town.small.as_eva, town.campaign)
    assert made.secret not in str(vars(row))
    town.act(end_webhook, town.small.as_eva, made.id)
    assert town.ask(webhooks, town.small.as_eva, town.campaign) == ()


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "ftp://example.org/",
        "https://",
        "https://user:word@example.org/",
        "https://example.org/#x",
        "https://example.org/\r\nHost: other",
        "https://example.org:port/",
        "https://exämple.org/",
        "file:///etc/passwd",
        "https://" + "a" * 3000,
    ],
)
def test_a_webhook_at_an_odd_address_is_refused(town, url):
    with pytest.raises(RefusedError) as refusal:
        town.act(add_webhook, town.small.as_eva, town.campaign, url=url, kinds=["results_released"])
    assert refusal.value.problems[0].rule == "X-10"


def test_a_webhook_asks_for_kinds_that_carry_an_id(town):
    for kinds in ([], ["reset"], ["unheard of"]):
        with pytest.raises(RefusedError):
            town.act(add_webhook, town.small.as_eva, town.campaign, url="https://example.org/", kinds=kinds)
