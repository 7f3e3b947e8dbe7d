"""People, teams and agreements from a CSV: every mistake with its line, then all of it or nothing (P-43)."""

from __future__ import annotations

import re
from html import unescape

import pytest
from sqlalchemy import func, select
from tests.campaign.staging import staged
from tests.cli.running import here
from tests.server.conftest import with_token
from tests.server.pages.conftest import give_passwords
from tests.server.pages.organiser.conftest import MORE
from tests.server.pages.test_participant import newcomer

from basanite.campaign.office import Actor
from basanite.campaign.people import agreements
from basanite.campaign.people.persons import by_mail
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import Approval, Membership, Message, Person, Signature, Team
from basanite.server.app import make_app

GOOD = """mail;name;team;role;track;site
Kim@Example.org;Kim Doe;Gamma;pi;open;Oslo
lee@example.org;"Lee; Roe";Gamma;member;;
sam@example.org;Sam Poe;;judge;;
mo@example.org;Mo Ray;Équipe Ω;;;
ada@example.org;;Alpha;;;
rex@example.org;Rex Lo;Alpha;;;
"""
TABLE = re.compile(r'name="table" value="([^"]+)"')


def counts(stage):
    with stage.office.reading() as session:
        return [session.scalar(select(func.count()).select_from(kind)) for kind in (Person, Team, Membership, Message)]


def upload(eva, text, what="people", **more):
    return eva.upload(
        f"/import/{what}", f"/import/{what}", text.encode() if isinstance(text, str) else text, "p.csv", **more
    )


def mistakes(answer):
    """Line and message of every mistake that the page lists."""
    rows = re.findall(r'<td class="num"[^>]*>(.*?)</td><th scope="row"><bdi>(.*?)</bdi>', unescape(answer.text))
    return [(int(line) if line.isdecimal() else None, message) for line, message in rows]


@pytest.mark.req("P-43", case="good")
def test_a_table_is_looked_at_and_then_entered_as_a_whole(desk, stage):
    eva, before = desk(), counts(stage)
    assert "Import from a CSV file" in eva.page("/people")
    text = GOOD.replace("Équipe Ω", "Nordwind")
    answer = upload(eva, text, invite="no")
    shown = dict(re.findall(r"<dt>(.*?)</dt><dd class=\"big\">(.*?)</dd>", answer.text))
    assert shown == {
        "New people": "5",
        "New teams": "2",
        "Members": "2",
        "Roles": "1",
        "Lines that change nothing": "1",
    }
    assert counts(stage) == before, "a preview enters nothing"
    done = eva.send("/campaigns/small/organise/import/people", "/campaigns/small/organise/import/people/apply",
                    table=TABLE.search(answer.text)[1], invite="no")  # fmt: skip
    assert "are entered" in done.text
    page = eva.page("/teams")
    assert "Gamma" in page
    assert "Nordwind" in page
    with stage.office.reading() as session:
        people = {
            mail: by_mail(session, stage.office, f"{mail}@example.org").id
            for mail in ("kim", "lee", "sam", "mo", "rex")
        }
        seen = {mail: viewer(session, stage.season.campaign_id, person) for mail, person in people.items()}
        team = session.scalars(select(Team).where(Team.name == "Gamma")).one()
        told = sorted(row.template for row in session.scalars(select(Message)) if row.person_id in people.values())
        organizers = [
            row.template for row in session.scalars(select(Message).where(Message.template == "teams_imported"))
        ]
    assert team.track == "open"
    assert (seen["kim"].team, seen["kim"].pi, seen["lee"].team, seen["lee"].pi) == (team.id, True, team.id, False)
    assert (seen["mo"].pi, seen["rex"].team, seen["sam"].roles) == (True, stage.season.alpha, frozenset({"judge"}))
    assert told == ["join_approved", "join_approved", "role_granted", "team_ready", "team_ready"]
    assert len(organizers) == 2, "Eva and Otto, once for both teams"
    again = upload(eva, text)
    assert "Everything in the file is so already." in again.text


@pytest.mark.req("P-43", case="good")
def test_members_are_invited_by_mail_and_join_when_they_accept(desk, stage):
    eva = desk()
    answer = upload(
        eva, "mail,name,team,role\nkim@example.org,Kim,Gamma,pi\nlee@example.org,Lee,Gamma,\n", invite="yes"
    )
    assert "invitation by email" in answer.text
    eva.send("/campaigns/small/organise/import/people", "/campaigns/small/organise/import/people/apply",
             table=TABLE.search(answer.text)[1], invite="yes")  # fmt: skip
    with stage.office.reading() as session:
        lee = by_mail(session, stage.office, "lee@example.org").id
        assert viewer(session, stage.season.campaign_id, lee).team is None
        assert session.scalars(select(Message.template).where(Message.person_id == lee)).all() == ["invited"]


WRONG = """mail,name,team,role,track,code
no address,Kim,Gamma,pi,,
kim@example.org,Kim,Gamma,pi,,
lee@example.org,Lee,Gamma,pi,,
lee@example.org,Lee,Delta,pi,,
jo@example.org,Jo,Delta,boss,,
bea@example.org,Bea,Alpha,,,
eva@example.org,Eva,Alpha,,,
zoe@example.org,Zoe,A1pha,pi,,
zac@example.org,Zac,Zeta,,,
zan@example.org,Zan,Zeta,,,
zed@example.org,Zed,東京,,,
ann@example.org,The server,,,,
ben@example.org,Ben,Kappa,,closed,
cat@example.org,Cat,,judge,,
cat@example.org,Cat,Lambda,,,
dan@example.org,Dan,Alpha,pi,,
dot@example.org,Dot,,member,,
eli@example.org,Eli,Mu-1,pi,,Mu1
fay@example.org,Fay,Mu 1,pi,,Mu2
"""
FOUND = {
    2: "this is not an email address",
    3: "the team has another PI on line 2",
    5: "this person is in another team on line 4",
    6: "there is no role 'boss'",
    7: "this person is in another team of the campaign",
    8: "this person judges or organizes the campaign",
    9: "the team's name looks like that of 'Alpha'",
    10: "the new team has no PI",
    12: "this is not a valid TeamID",
    13: "this name can be confused with that of an organizer or another team",
    14: "there is no track 'closed'",
    16: "this person judges or organizes the campaign",
    17: "the team is there and has a PI",
    18: "a member needs a team",
    20: "the team's name looks like that of 'Mu-1' on line 19",
}


@pytest.mark.req("P-43", case="bad")
def test_every_mistake_of_a_table_is_listed_with_its_line_and_nothing_is_entered(desk, stage):
    eva, before = desk(), counts(stage)
    answer = upload(eva, WRONG)
    found = mistakes(answer)
    assert dict(found) == FOUND
    assert answer.status_code == 422
    assert "Enter everything" not in answer.text
    assert counts(stage) == before


BROKEN = (
    ("", "the file is missing"),
    ("\n", "the header has no column mail"),
    ("name,team\nKim,Gamma\n", "the header has no column mail"),
    ("mail,name,salary\nk@example.org,Kim,3\n", "there is no column 'salary'"),
    ("mail,mail\nk@example.org,x\n", "the header has the column mail twice"),
    ("mail,name\n", "the table has a header and no lines"),
    ("mail,name\nk@example.org\n", "the line has 1 cells, and the header 2"),
    ('mail,name\nk@example.org,"Kim\nl@example.org,Lee\n', "the line cannot be read: unexpected end of data"),
    ("mail,name\nk@example.org,Caf\xe9\n".encode("latin-1"), "the line is not UTF-8 text"),
    (b"\xff\xfem\0a\0", "the line is not UTF-8 text"),
)


@pytest.mark.req("P-43", case="bad")
def test_a_table_that_cannot_be_read_gets_one_message_that_says_why(desk, stage):
    eva = desk()
    for text, message in BROKEN:
        answer = upload(eva, text)
        assert [one for _, one in mistakes(answer)] == [message], text
    many = "mail,name\n" + "".join(f"k{n}@example.org;Kim\n" for n in range(40))
    first = mistakes(upload(eva, many))[0]
    assert first == (None, "40 of 40 lines: the line has 1 cells, and the header 2"), "the cause comes first"


@pytest.mark.req("P-43", case="bad")
def test_what_changed_since_the_preview_stops_the_whole_table(desk, stage):
    eva = desk()
    shown = upload(eva, "mail,name,team,role\nkim@example.org,Kim,Gamma,pi\nmax@example.org,Max,Delta,pi\n")
    with stage.office.writing() as session:
        from basanite.campaign.people import teams

        teams.create_team(session, stage.office, Actor(stage.season.eva), stage.season.campaign_id,
                          teams.NewTeam("De1ta"), pi=newcomer_id(stage))  # fmt: skip
    before = counts(stage)
    answer = eva.send("/campaigns/small/organise/import/people", "/campaigns/small/organise/import/people/apply",
                      table=TABLE.search(shown.text)[1], invite="no")  # fmt: skip
    assert mistakes(answer) == [(3, "the team's name looks like that of 'De1ta'")]
    assert counts(stage) == before, "Gamma is not entered either"


def newcomer_id(stage):
    with stage.office.reading() as session:
        return session.scalars(select(Person.id).where(Person.id.not_in([getattr(stage.season, one) for one in (
            "ada", "alan", "bea", "eva", "otto")]))).first() or newcomer(stage.office)  # fmt: skip


@pytest.mark.req("P-43", case="bad")
def test_a_form_that_holds_no_table_is_refused(desk, stage):
    eva, before = desk(), counts(stage)
    for held in ("", "x", "eJw=", "AAAA"):
        answer = eva.send("/campaigns/small/organise/import/people", "/campaigns/small/organise/import/people/apply",
                          table=held, invite="no")  # fmt: skip
        assert answer.status_code in (404, 422), held
    assert counts(stage) == before


@pytest.fixture
def large(tmp_path):
    """10,000 teams, of which twenty have a mistake."""
    lines = [f"pi{n}@example.org,Pat,{spelled(n)},pi" for n in range(10_000)]
    for at in range(0, 10_000, 500):
        lines[at] = lines[at].replace("@", " at ")
    return "mail,name,team,role\n" + "\n".join(lines) + "\n"


def spelled(number):
    """A name of its own for each number, no two of which look alike."""
    return "".join("bdfhkprstv"[int(digit)] + "aeou"[at % 4] for at, digit in enumerate(f"{number:05}")).title()


@pytest.mark.req("P-43", case="bad")
def test_twenty_mistakes_among_ten_thousand_teams_are_found_in_one_pass(desk, stage, large):
    statements = []
    from sqlalchemy import event

    eva = desk()
    eva.page("/import/people")
    engine = stage.office.database.engine
    event.listen(engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    answer = upload(eva, large)
    assert [line for line, _ in mistakes(answer)] == [at + 2 for at in range(0, 10_000, 500)]
    assert len(statements) < 120, "how much is asked does not grow with the lines, but for their addresses"


@pytest.mark.req("P-43")
def test_programs_and_commands_enter_tables_too(stage, office):
    from starlette.testclient import TestClient

    headers = {"Authorization": f"Bearer {with_token(office, stage.season.eva)}"}
    with TestClient(make_app(office)) as client:
        call = "/api/v1/campaigns/small/actions/people-import"
        seen = client.post(call, json={"text": GOOD.replace("Équipe Ω", "Nordwind")}, headers=headers).json()["result"]
        assert (seen["applied"], seen["teams"], seen["people"]) == (False, 2, 5)
        wrong = client.post(call, json={"text": WRONG, "apply": True}, headers=headers)
        assert wrong.status_code == 422
        assert {one["line"] for one in wrong.json()["problems"]} == set(FOUND)
        done = client.post(call, json={"text": "mail,team\nkim@example.org,Gamma\n", "apply": True}, headers=headers)
        assert done.json()["result"]["applied"] is True
        ada = {"Authorization": f"Bearer {with_token(office, stage.season.ada)}"}
        assert client.post(call, json={"text": "mail\nx@example.org\n"}, headers=ada).status_code == 403


@pytest.mark.req("P-43", case="bad")
def test_a_command_prints_every_mistake_with_its_line(stage, office, tmp_path):
    (tmp_path / "people.csv").write_text(WRONG, encoding="utf-8")
    ended = here("admin", "people", "import", tmp_path / "people.csv", "--apply", "--data", office.settings.data)
    lines = [int(line.split(":")[0].removeprefix("line ")) for line in ended.stderr.splitlines()]
    assert (ended.code, lines) == (1, sorted(FOUND))


@pytest.mark.req("P-43")
def test_signed_copies_are_decided_from_a_table(desk, stage):
    eva = desk()
    for team, person in ((stage.season.alpha, stage.season.ada), (stage.season.beta, stage.season.bea)):
        stage.do(agreements.sign, Actor(person), team, "data", copy=b"%PDF-1.7 signed")
    page = unescape(eva.page("/import/agreements"))
    assert "Alpha,data,accept," in page, "the copies that wait are the example"
    bad = "team,agreement,decision,reason\nAlpha,data,maybe,\nAlpha,data,refuse,\nGamma,data,accept,\n"
    assert [line for line, _ in mistakes(upload(eva, bad, "agreements"))] == [2, 3, 3, 4]
    good = "team,agreement,decision,reason\nAlpha,data,accept,\nBeta,data,refuse,page 2 is missing\n"
    shown = upload(eva, good, "agreements")
    eva.send("/campaigns/small/organise/import/agreements", "/campaigns/small/organise/import/agreements/apply",
             table=TABLE.search(shown.text)[1])  # fmt: skip
    with stage.office.reading() as session:
        states = dict(session.execute(select(Signature.team_id, Signature.state)).all())
    assert states == {stage.season.alpha: "executed", stage.season.beta: "refused"}


@pytest.mark.req("P-43", "X-4")
def test_roles_from_a_table_wait_for_a_second_organizer_where_the_campaign_says_so(office, clock, pack):
    stage = staged(office, clock, pack, then=give_passwords, more=MORE, two_people=("role",))
    from starlette.testclient import TestClient

    headers = {"Authorization": f"Bearer {with_token(office, stage.season.eva)}"}
    with TestClient(make_app(office)) as client:
        call = "/api/v1/campaigns/small/actions/people-import"
        given = {"text": "mail,role\nkim@example.org,judge\n", "apply": True}
        assert client.post(call, json=given, headers=headers).json()["result"]["waiting"] == 1
    with office.reading() as session:
        assert session.scalars(select(Approval.act)).all() == ["role"]
        assert not viewer(session, stage.season.campaign_id, by_mail(session, office, "kim@example.org").id).roles
