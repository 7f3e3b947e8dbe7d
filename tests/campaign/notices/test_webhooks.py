"""Webhooks: called at public addresses that were checked, for five seconds, deaf to the answer (X-10)."""

import json
import time

import pytest
from click.testing import CliRunner
from sqlalchemy import select
from tests.offices.prepared import small_season

from basanite.campaign.actions.campaigns import Edit, edit_plan
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.notices.messages import UndeliverableError
from basanite.campaign.notices.outbox import Posted, send_due, tell
from basanite.campaign.notices.webhook_calls import (
    Call,
    RefusedAddressError,
    call,
    checked_url,
    chosen_address,
    is_public,
    signature,
    signed_by,
)
from basanite.campaign.office import COMMAND
from basanite.campaign.people.communication import add_webhook, end_webhook
from basanite.campaign.store.tables import Message
from basanite.cli import app


def hooked(office, called, path="/ok", kinds=("result_there",)):
    """A season with one webhook, and its secret."""
    small = small_season(office)
    send_due(office, most=1000)
    with office.writing() as session:
        made = add_webhook(session, office, small.as_eva, small.campaign_id, url=called.address + path, kinds=kinds)
    return small, made


def happen(office, small, template="result_there"):
    data = {"submission": "s1", "number": 7, "window": "dev"}
    with office.writing() as session:
        tell(session, office, template, persons=[], campaign_id=small.campaign_id, data=data, once="s1")


def message(office):
    with office.reading() as session:
        return session.scalars(select(Message).where(Message.kind == "webhook")).one()


def test_a_call_is_signed_with_a_time_stamp_and_holds_an_id_alone(open_office, called, clock):
    small, made = hooked(open_office, called)
    happen(open_office, small)
    happen(open_office, small)
    happen(open_office, small, "submission_valid")
    assert send_due(open_office) == Posted(sent=1)
    ((_, headers, body),) = called.calls
    content = json.loads(body)
    assert set(content) == {"id", "kind", "campaign", "subject", "at"}
    assert (content["kind"], content["subject"]) == ("result_there", "s1")
    secret, now = bytes.fromhex(made.secret), int(clock().timestamp())
    assert signed_by(secret, body, headers["Basanite-Signature"], now=now)
    assert not signed_by(secret, body + b" ", headers["Basanite-Signature"], now=now)
    assert not signed_by(secret, body, headers["Basanite-Signature"], now=now + 301)
    assert not signed_by(b"other", body, headers["Basanite-Signature"], now=now)
    assert headers["Basanite-Delivery"] == content["id"]


SHOWN = "R&D <!channel> *all* @here: A result is available."
ROOMS = {
    "slack": {"text": "R&amp;D &lt;!channel&gt; *all* @here: A result is available. <ADDRESS|Open>"},
    "mattermost": {
        "text": "R&D \\<\\!channel\\> \\*all\\* @\u200bhere: A result is available. [Open](ADDRESS)",
    },
    "matrix": {
        "text": f"{SHOWN} ADDRESS",
        "html": 'R&amp;D &lt;!channel&gt; *all* @here: A result is available. <a href="ADDRESS">Open</a>',
    },
}


@pytest.mark.req("X-10")
@pytest.mark.parametrize("form", ROOMS)
def test_a_room_gets_a_line_in_the_form_that_its_program_documents(open_office, called, form):
    small = small_season(open_office)
    send_due(open_office, most=1000)
    with open_office.writing() as session:
        edit = Edit("campaign", {"title": "R&D <!channel> *all* @here"}, reason="a name that could call everybody")
        edit_plan(session, open_office, COMMAND, small.campaign_id, edit)
    words = ("--kind", "result_there", "--form", form, "--campaign", "small", "--as", small.eva)
    ended = CliRunner().invoke(app, ["admin", "webhook", "add", f"{called.address}/ok", *words,
                                     "--data", str(open_office.settings.data)],
                               env={"BASANITE_LOOPBACK_WEBHOOKS": "true"})  # fmt: skip
    assert ended.exit_code == 0, ended.output
    happen(open_office, small)
    assert send_due(open_office) == Posted(sent=1)
    ((_, headers, body),) = called.calls
    address = f"{open_office.address}/campaigns/small/submissions/s1"
    assert json.loads(body) == {name: text.replace("ADDRESS", address) for name, text in ROOMS[form].items()}
    assert headers["Content-Type"] == "application/json"


def test_an_unknown_form_is_refused(open_office, called):
    small = small_season(open_office)
    with open_office.writing() as session, pytest.raises(RefusedError, match="no form 'teams'"):
        add_webhook(session, open_office, small.as_eva, small.campaign_id, url=f"{called.address}/ok",
                    kinds=["result_there"], form="teams")  # fmt: skip


def test_a_redirect_is_not_followed_and_the_answer_is_kept_as_a_status_alone(open_office, called):
    small, _ = hooked(open_office, called, "/redirect")
    happen(open_office, small)
    assert send_due(open_office) == Posted(failed=1)
    assert [path for path, _, _ in called.calls] == ["/redirect"]
    assert message(open_office).error == "answered 302"


def test_no_part_of_the_answer_is_stored(open_office, called):
    small, _ = hooked(open_office, called)
    happen(open_office, small)
    send_due(open_office)
    assert (message(open_office).state, message(open_office).error) == ("sent", "")
    data = open_office.settings.data
    assert not any(b"nobody may see" in path.read_bytes() for path in data.rglob("*") if path.is_file())


def test_an_answer_of_10_gigabytes_is_not_read(open_office, called):
    small, _ = hooked(open_office, called, "/huge")
    happen(open_office, small)
    assert send_due(open_office) == Posted(sent=1)
    assert called.sent < 100 * 2**20


@pytest.mark.parametrize("path", ["/hang", "/trickle"])
def test_who_hangs_or_trickles_is_hung_up_on(called, path):
    began = time.monotonic()
    with pytest.raises(UndeliverableError, match="in time"):
        call(
            Call(called.address + path, b"{}", {}), resolve=lambda host, port: ["127.0.0.1"], loopback=True, seconds=0.5
        )
    assert time.monotonic() - began < 60


def test_a_slow_name_server_does_not_hold_us(called):
    def slow(host, port):
        called.ended.wait(120)
        return ["127.0.0.1"]

    with pytest.raises(UndeliverableError, match="in time"):
        call(Call(called.address + "/ok", b"{}", {}), resolve=slow, loopback=True, seconds=0.3)


def test_a_program_that_is_away_is_called_again_and_ended_webhooks_are_not(open_office, called, clock):
    small, made = hooked(open_office, called, "/away")
    happen(open_office, small)
    assert send_due(open_office) == Posted(failed=1)
    assert message(open_office).error == "answered 503"
    clock.forward(minutes=2)
    assert send_due(open_office) == Posted(failed=1)
    with open_office.writing() as session:
        end_webhook(session, open_office, small.as_eva, made.id)
    clock.forward(days=1)
    assert send_due(open_office) == Posted(given_up=1)
    assert len(called.calls) == 2


def test_without_the_setting_neither_http_nor_this_machine_is_called(called):
    for url in (called.address + "/ok", called.address.replace("http:", "https:") + "/ok"):
        with pytest.raises(UndeliverableError):
            call(Call(url, b"{}", {}), resolve=lambda host, port: ["127.0.0.1"], seconds=2)
    assert called.calls == []


def test_a_name_that_changes_its_answer_is_asked_once_and_the_connection_stays_where_it_was_checked(called):
    answers = iter([["127.0.0.1"], ["10.0.0.1"], ["10.0.0.1"]])
    asked = []

    def rebinding(host, port):
        asked.append(host)
        return next(answers)

    url = f"http://rebinding.example:{called.server_port}/ok"
    call(Call(url, b"{}", {}), resolve=rebinding, loopback=True)
    assert asked == ["rebinding.example"]
    assert called.calls[0][1]["Host"] == f"rebinding.example:{called.server_port}"


def test_one_private_address_among_public_ones_is_enough_to_refuse():
    for found in (["93.184.216.34", "10.0.0.1"], ["127.0.0.1"], []):
        with pytest.raises(RefusedAddressError):
            chosen_address("mixed.example", 443, lambda host, port, found=found: found)
    assert chosen_address("good.example", 443, lambda host, port: ["93.184.216.34"]) == "93.184.216.34"


PRIVATE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd12:3456::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "::10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:a00:1::",
    "2001:0:7f00:1::",
    "192.88.99.1",
    "192.0.0.9",
    "2001:20::1",
    "2001:1::1",
    "3fff::1",
    "5f00::1",
    "100::1",
    "nonsense",
    "1.2.3",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_refused(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_a_public_address_is_not_refused(address):
    assert is_public(address)


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
def test_other_spellings_of_this_machine_are_refused_before_anything_is_resolved(host):
    with pytest.raises(RefusedAddressError, match="not public"):
        checked_url(f"https://{host}/")


def test_a_signature_of_odd_form_is_no_signature():
    good = signature(b"key", b"{}", 1000)
    for header in ("", "t=,v1=", "t=-1,v1=x", "t=1e3,v1=x", "t=١٠٠٠,v1=x", good.upper(), good + "0"):
        assert not signed_by(b"key", b"{}", header, now=1000)
