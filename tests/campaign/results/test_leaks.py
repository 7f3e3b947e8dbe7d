"""In a blind week nothing that a team can get at depends on the key: planted secrets are searched for everywhere."""

import json
from dataclasses import asdict, replace

import pytest

from basanite.campaign.model.policy import VISITOR
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.people.privacy import export_person
from basanite.campaign.people.roles import viewer
from basanite.campaign.results import boards, visibility
from basanite.campaign.results.facts import adopted_results, content
from basanite.campaign.store.tables import Event, Message, Receipt, Reference
from basanite.synthetic.clir import Quality, system_members, write_members
from basanite.testing.season import SPEC


@pytest.fixture
def blind(stage, tmp_path):
    """A run of middling quality in the blind week, whose score nobody would guess."""
    write_members(system_members(SPEC, Quality("Middling", 0.7)), tmp_path / "middling.tgz")
    stage = replace(stage, pack=replace(stage.pack, perfect=tmp_path / "middling.tgz"))
    stage.clock.set("2018-04-03 12:00")
    return stage, stage.submit("alpha", "perfect")


def everything_a_team_gets(stage, run):
    """All answers, mails, events, receipts and exports that members of both teams and visitors can get, as one text."""
    season, office, texts = stage.season, stage.office, []
    with office.reading() as session:
        people = [viewer(session, season.campaign_id, who) for who in (season.ada, season.alan, season.bea)]
        for who in (*people, VISITOR):
            for ask in (visibility.submission, visibility.result, visibility.results, visibility.run_view):
                try:
                    texts.append(repr(ask(session, office, who, run)))
                except RefusedError as refusal:
                    texts.append(str(refusal))
            texts.append(repr(visibility.submissions(session, office, who, season.campaign_id)))
            board = visibility.board(
                session, office, who, season.campaign_id, boards.Subject("week", "CLIR", language="1A")
            )
            texts.append(json.dumps(asdict(board), default=str))
        texts += [json.dumps(one.data) for one in session.query(Message)]
        texts += [one.content.decode() for one in session.query(Receipt)]
    with office.writing() as session:
        exports = [export_person(session, office, Actor(who.person), who.person) for who in people]
    return "\n".join([*texts, *(json.dumps(one, default=str) for one in exports)])


def secrets_of(stage, run):
    """The reference's id and digests, every hidden value to four digits, and the key of the result."""
    with stage.office.reading() as session:
        result = adopted_results(session, [run])[run]
        values = content(stage.office, result)["values"]
        reference = session.get(Reference, result.reference_id)
        numbers = {f"{one['value']:.4f}" for one in values.values() if one["value"] is not None}
        digests = [reference.id, *reference.files["reference"], *reference.files["metadata"]]
    return {number for number in numbers if len(set(number)) > 3} | {*digests, result.key, result.digest}


def test_planted_secrets_occur_in_nothing_that_a_team_can_get_during_a_blind_week(blind):
    stage, run = blind
    text, secrets = everything_a_team_gets(stage, run), secrets_of(stage, run)
    assert len(secrets) >= 8
    assert [secret for secret in secrets if secret in text] == []
    with stage.office.reading() as session:
        everything = json.dumps([one.data for one in session.query(Event)])
    assert any(secret in everything for secret in secrets)  # the search would find what is there


def test_no_document_and_no_verdict_on_one_is_shown_to_anybody_even_with_full_feedback(stage):
    run = stage.submit("alpha", "perfect")
    names = [line.split("\t")[0] for path in stage.pack.key.iterdir() for line in path.read_text().splitlines()]
    with stage.office.reading() as session:
        for who in (stage.season.ada, stage.season.eva):
            seen = viewer(session, stage.season.campaign_id, who)
            text = json.dumps(asdict(visibility.submission(session, stage.office, seen, run)), default=str)
            assert "aqwv" in text
            assert [name for name in names if name in text] == []


def test_the_visible_sequence_is_the_same_for_a_perfect_and_a_silent_run(stage):
    stage.clock.set("2018-04-03 12:00")
    runs = {"ada": stage.submit("alpha", "perfect"), "bea": stage.submit("beta", "silent")}
    sequences = []
    with stage.office.reading() as session:
        for who, run in runs.items():
            person = getattr(stage.season, who)
            seen = viewer(session, stage.season.campaign_id, person)
            mails = session.query(Message).filter(Message.person_id == person, Message.template.like("%submission%"))
            shown = visibility.submission(session, stage.office, seen, run)
            sequences.append((sorted(one.template for one in mails), shown.state, shown.final, shown.result))
    assert sequences[0] == sequences[1]


def test_the_seed_of_a_sealed_campaign_is_in_no_answer(stage):
    run = stage.submit("alpha", "perfect")
    secret = int.from_bytes(stage.office.vault.secret("seed", stage.season.campaign_id), "big")
    with stage.office.reading() as session:
        ada = viewer(session, stage.season.campaign_id, stage.season.ada)
        text = repr(visibility.submission(session, stage.office, ada, run))
    assert str(secret) not in text
    assert "seed" not in text
