"""Rows as a season leaves them, put in directly: what is kept does not depend on how it came about."""

import json

from basanite.campaign.receipts import intake_receipt
from basanite.campaign.store import events
from basanite.campaign.store.personal import Personal, seal
from basanite.campaign.store.tables import Adoption, Person, Reference, Result, Submission

RESULT = {
    "breakdowns": {},
    "digests": {"reference": "sha256:" + "0" * 64, "submission": "sha256:" + "1" * 64},
    "format": "basanite-result/1",
    "notes": [],
    "primary": "aqwv",
    "settings": {"beta": 20.0},
    "signature": "aqwv|beta:20",
    "task": "clir",
    "values": {"aqwv": {"value": 0.3141592654, "low": 0.2, "high": 0.4, "units": 6, "undefined": 0, "flags": []}},
}


def submit(office, season, team="alpha", *, number=1, window="dev", content=b"an archive", **more):
    """A submission with its event and its intake receipt."""
    with office.writing() as session:
        now, stored = office.clock(), office.files.put(content)
        row = Submission(
            campaign_id=season.campaign_id,
            team_id=getattr(season, team),
            person_id=season.ada,
            number=number,
            door="api",
            window=window,
            task="CLIR",
            language="1A",
            dataset="DEV",
            queryset="QUERY1",
            type="primary",
            label=f"{team}-system",
            name=f"BASE_CLIR_{team.title()}_{number}.tgz",
            size=stored.size,
            sha256=stored.digest,
            description={"text": f"The system of {team.title()}."},
            plan_version=1,
            started=now,
            received=now,
            state_at=now,
        )
        for name, value in more.items():
            setattr(row, name, value)
        session.add(row)
        session.flush()
        events.record(
            session, "submission.accepted", at=now, actor=season.ada, subject=row.id, campaign_id=season.campaign_id
        )
        return row, intake_receipt(session, office, row)


def add_reference(office, season, content=b"D1\tY\n"):
    """A version of the truth among the sealed files."""
    from basanite.campaign.actions.references import Material, NewVersion, Place, add
    from basanite.campaign.office import Actor

    digest = office.sealed.put(content).digest
    with office.writing() as session:
        place = Place("CLIR", "DEV", "1A", "QUERY1")
        return add(
            session,
            office,
            Actor(season.eva),
            season.campaign_id,
            NewVersion(place, Material((digest,)), reason="better"),
        )


def scored(office, submission, reference: Reference, result=None, key="k1"):
    """A result that holds for a submission."""
    data = result or RESULT
    stored = office.files.put(json.dumps(data, sort_keys=True).encode())
    with office.writing() as session:
        value = data["values"].get("aqwv", {}).get("value")
        session.add(
            Result(
                key=key,
                submission_id=submission.id,
                reference_id=reference.id,
                digest=stored.digest,
                primary=value,
                settings={"beta": 20.0},
                software="basanite test",
                plan_version=1,
                at=office.clock(),
            )
        )
        session.flush()
        session.add(Adoption(submission_id=submission.id, result_key=key, at=office.clock()))
        session.get_one(Submission, submission.id).state = "scored"


def name_person(office, person_id, name="Ada Lovelace", mail="ada@example.org"):
    """Seal a person's data."""
    with office.writing() as session:
        session.get_one(Person, person_id).sealed = seal(office.vault, person_id, Personal(name, mail, {}))


def filled(office, season):
    """A season with two submissions, a reference, a result and a named person."""
    first, _ = submit(office, season)
    submit(office, season, "beta", content=b"another archive")
    reference = add_reference(office, season)
    scored(office, first, reference)
    name_person(office, season.ada)
    return season
