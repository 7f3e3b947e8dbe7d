"""The small season, with people who have names and addresses."""

from dataclasses import dataclass

import pytest
from tests.offices.prepared import small_season

from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.testing import small_campaign_text

AGREEMENT = """
[[packs]]
id = "TRAIN1"
family = "train"
released = "2018-01-02 00:00"
sealed = true
agreement = "data"

[[agreements]]
id = "data"
title = "Data use agreement"
version = "{version}"
text = "Use it well."
expires = "2018-06-01 00:00"
deletion_by = "2018-07-01 00:00"
"""


@dataclass(frozen=True)
class Town:
    """An office with a season in it, and how to add people to it."""

    office: object
    small: object

    @property
    def campaign(self):
        return self.small.campaign_id

    def person(self, name, **more):
        with self.office.writing() as session:
            return Actor(
                add_person(session, self.office, Newcomer(name=name, mail=f"{name.lower()}@example.org", **more)).id
            )

    def act(self, function, *arguments, **options):
        """Do something in a transaction of its own."""
        with self.office.writing() as session:
            return function(session, self.office, *arguments, **options)

    def ask(self, function, *arguments, **options):
        """Ask something of the database."""
        with self.office.reading() as session:
            return function(session, *arguments, **options)

    def change_plan(self, text):
        from basanite.campaign.actions.plans import change_plan

        with self.office.writing() as session:
            change_plan(session, self.office, COMMAND, self.small.campaign_id, text, reason="a test")


def campaign_text(version="1", **more):
    return small_campaign_text(more=AGREEMENT.format(version=version), **more)


@pytest.fixture
def town(sqlite_office):
    return Town(sqlite_office, small_season(sqlite_office, campaign_text()))


@pytest.fixture
def both_towns(office):
    """The same on SQLite and on PostgreSQL."""
    return Town(office, small_season(office, campaign_text()))


@pytest.fixture
def two_people_town(sqlite_office):
    return Town(sqlite_office, small_season(sqlite_office, campaign_text(two_people=("role",))))
