"""Mails: written with their cause, sent once, tried again, given up; harmless whatever strangers write (P-10, X-14)."""

import ast
import email
import json
import re
from concurrent.futures import ThreadPoolExecutor
from email import policy
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.offices.prepared import small_season

import basanite
from basanite.campaign.notices.messages import Letter, UndeliverableError, catalogue, compose, template_named
from basanite.campaign.notices.outbox import MOST_TRIES, Posted, send_due, tell
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.store.personal import Personal, seal
from basanite.campaign.store.tables import Message, Person
from basanite.errors import UnknownNameError

HOSTILE = "Eve\r\nBcc: all@example.org\r\n\r\n<b>\u202egnp.exe\x1b[31m"


def write(office, small, template="submission_valid", **more):
    data = {"submission": "s1", "number": 7, "window": "dev", **more.pop("data", {})}
    options = {"persons": [small.ada], "campaign_id": small.campaign_id, "data": data, **more}
    with office.writing() as session:
        return tell(session, office, template, **options)


def rows(office):
    with office.reading() as session:
        return session.scalars(select(Message).where(Message.template == "submission_valid")).all()


def clear(office):
    """Everything that the season itself told is sent."""
    send_due(office, most=1000)


def letters(office):
    parsed = (email.message_from_bytes(path.read_bytes(), policy=policy.default) for path in outbox(office))
    return [mail for mail in parsed if "Submission" in mail["Subject"] or "Eve" in mail["Subject"]]


def outbox(office):
    return sorted((office.settings.data / "outbox").glob("*.eml"))


def test_by_default_a_mail_is_a_file_in_the_outbox(sqlite_office, small_season):
    write(sqlite_office, small_season)
    clear(sqlite_office)
    (mail,) = letters(sqlite_office)
    assert (mail["To"], mail["Subject"]) == ("ada@people.example", "Submission 7 is valid")
    text = mail.get_content().replace("\r\n", "\n")
    assert text.startswith('Hello Ada,\n\nYour submission 7, "s1", to A small season (Development on DEV) is valid.')
    assert oct(outbox(sqlite_office)[0].stat().st_mode & 0o777) == "0o600"
    assert send_due(sqlite_office) == Posted()


def test_a_mail_goes_out_by_smtp(sqlite_office, small_season, catcher):
    clear(sqlite_office)
    sqlite_office.settings.mail.host, sqlite_office.settings.mail.port = "127.0.0.1", catcher.port
    write(sqlite_office, small_season)
    assert send_due(sqlite_office) == Posted(sent=1)
    ((sender, to, content),) = catcher.mails
    assert (sender, to) == ("basanite@localhost", ["ada@people.example"])
    assert "A small season (Development on DEV) is valid" in content
    assert send_due(sqlite_office) == Posted()
    assert len(catcher.mails) == 1


def test_a_message_is_kept_with_its_cause_or_not_at_all(office):
    small = small_season(office)

    def fail_after_telling():
        with office.writing() as session:
            tell(session, office, "handed_over", persons=[small.ada], data={"team": "t", "who_person": small.ada})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_telling()
    with office.reading() as session:
        assert session.scalars(select(Message).where(Message.template == "handed_over")).all() == []


def test_what_is_told_once_is_told_to_each_person_once(office):
    small = small_season(office)
    assert write(office, small, persons=[small.ada, small.ada, small.bea], once="s1") == 2
    assert write(office, small, persons=[small.ada, small.alan], once="s1") == 1
    assert write(office, small, persons=[small.ada], once="s2") == 1
    assert write(office, small) == write(office, small) == 1


def test_two_at_the_same_moment_write_and_send_one_message(office):
    small = small_season(office)
    clear(office)
    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(lambda _: write(office, small, once="s1"), range(8)))
        sent = list(pool.map(lambda _: send_due(office).sent, range(8)))
    assert (sum(written), sum(sent)) == (1, 1)
    assert [row.tries for row in rows(office)] == [1]


def test_a_server_that_is_busy_is_tried_again_later_and_later(sqlite_office, small_season, catcher, clock):
    clear(sqlite_office)
    sqlite_office.settings.mail.host, sqlite_office.settings.mail.port = "127.0.0.1", catcher.port
    catcher.answers = ["451 busy", "451 busy"]
    write(sqlite_office, small_season)
    assert send_due(sqlite_office) == Posted(failed=1)
    assert send_due(sqlite_office) == Posted()
    clock.forward(minutes=1)
    assert send_due(sqlite_office) == Posted(failed=1)
    clock.forward(minutes=3)
    assert send_due(sqlite_office) == Posted()
    clock.forward(minutes=1)
    assert send_due(sqlite_office) == Posted(sent=1)
    assert len(catcher.mails) == 1


def test_a_server_that_stays_away_is_given_up_and_no_address_is_written_down(sqlite_office, small_season, clock):
    clear(sqlite_office)
    sqlite_office.settings.mail.host, sqlite_office.settings.mail.port = "127.0.0.1", 1
    write(sqlite_office, small_season)
    outcomes = []
    for _ in range(MOST_TRIES + 2):
        outcomes.append(send_due(sqlite_office))
        clock.forward(days=1)
    assert outcomes[:MOST_TRIES] == [Posted(failed=1)] * (MOST_TRIES - 1) + [Posted(given_up=1)]
    assert outcomes[MOST_TRIES:] == [Posted()] * 2
    (row,) = rows(sqlite_office)
    assert (row.state, row.tries) == ("given up", MOST_TRIES)
    assert "ada@" not in row.error


def test_a_receiver_that_does_not_exist_is_given_up_at_once(sqlite_office, small_season, catcher):
    clear(sqlite_office)
    sqlite_office.settings.mail.host, sqlite_office.settings.mail.port = "127.0.0.1", catcher.port
    catcher.refused = {"ada@people.example": "550 no such user ada@people.example"}
    write(sqlite_office, small_season)
    assert send_due(sqlite_office) == Posted(given_up=1)
    (row,) = rows(sqlite_office)
    assert "550" in row.error
    assert "ada" not in row.error


def test_every_try_has_the_same_message_id(sqlite_office, small_season, clock):
    write(sqlite_office, small_season)
    clear(sqlite_office)
    (row,) = rows(sqlite_office)
    (mail,) = letters(sqlite_office)
    assert mail["Message-ID"] == f"<{row.id}@localhost>"
    with sqlite_office.writing() as session:
        session.get(Message, row.id).state = "waiting"
    before = len(outbox(sqlite_office))
    clock.forward(days=1)
    clear(sqlite_office)
    assert len(outbox(sqlite_office)) == before


def test_a_message_in_the_database_holds_no_name_or_address(sqlite_office, small_season):
    with sqlite_office.reading() as session:
        kept = json.dumps([row.data for row in session.scalars(select(Message))])
    assert kept.count(small_season.alpha)
    assert "Ada" not in kept
    assert "people.example" not in kept


def test_a_hostile_word_changes_no_header_and_is_seen_for_what_it_is(sqlite_office, small_season):
    data = {"team": small_season.alpha, "who_person": small_season.bea}
    with sqlite_office.writing() as session:
        bea = session.get(Person, small_season.bea)
        bea.sealed = seal(sqlite_office.vault, bea.id, Personal(HOSTILE, "bea@people.example"))
        tell(session, sqlite_office, "join_asked", persons=[small_season.ada], data=data)
    clear(sqlite_office)
    mail = next(mail for mail in letters(sqlite_office) if "Eve" in mail["Subject"])
    assert mail["Bcc"] is None
    assert mail["To"] == "ada@people.example"
    shown = mail["Subject"] + mail.get_content()
    assert "\\u202e" in shown
    assert not {"\u202e", "\x1b"} & set(shown)


def test_an_address_or_subject_with_a_line_break_is_refused_when_the_mail_is_written(clock):
    for letter in (
        Letter("a@example.org\nBcc: all@example.org", "Hello", ""),
        Letter("a@example.org", "Hello\r\nBcc: all@example.org", ""),
        Letter("a@example.org", "Hello\x00", ""),
    ):
        with pytest.raises(UndeliverableError) as refusal:
            compose(letter, sender="basanite@localhost", message_id="m", at=clock())
        assert refusal.value.final


def test_no_mail_takes_a_number_that_could_be_a_score(sqlite_office, small_season):
    for value in (0.731, [1], None, {"a": 1}):
        with pytest.raises(ValueError, match="number"):
            write(sqlite_office, small_season, data={"number": value})
    with pytest.raises(UnknownNameError):
        write(sqlite_office, small_season, template="submision_valid")


def test_every_mail_has_a_subject_a_body_and_somewhere_to_go():
    for name, template in catalogue().items():
        assert template.subject, name
        assert len(template.subject) < 80
        assert bool(template.page) == ("$page" in template.body), name
        assert template.page or "$link" in template.body, name
        assert not {"score", "value", "rank"} & template.words
        assert not re.search(r"`|basanite|(?<!-)--[a-z]", template.body), name


def test_every_mail_that_the_code_tells_is_in_the_catalogue():
    told = 0
    texts = (path.read_text(encoding="utf-8") for path in Path(basanite.__file__).parent.rglob("*.py"))
    for text in texts:
        for node in ast.walk(ast.parse(text)) if "import tell" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tell" and len(node.args) == 3:
                name = node.args[2]
                told += isinstance(name, ast.Constant) and bool(template_named(name.value))
    assert told > 10


def test_a_mail_to_an_erased_person_is_given_up(sqlite_office, small_season):
    from basanite.campaign.office import COMMAND
    from basanite.campaign.people.privacy import erase_person

    clear(sqlite_office)
    with sqlite_office.writing() as session:
        carl = add_person(session, sqlite_office, Newcomer(name="Carl", mail="carl@example.org")).id
        erase_person(session, sqlite_office, COMMAND, carl)
    write(sqlite_office, small_season, persons=[carl])
    assert send_due(sqlite_office) == Posted(given_up=1)
