"""What a worker does for people from round to round."""

from sqlalchemy import select

from basanite.campaign.duties import people_duties
from basanite.campaign.people.agreements import counter_sign, deletions, sign
from basanite.campaign.people.links import make_link
from basanite.campaign.store.tables import Link, Message


def test_a_round_sends_forgets_and_reminds_and_the_next_changes_nothing(town, clock):
    row = town.act(sign, town.small.as_ada, town.small.alpha, "data", copy=b"%PDF-1")
    town.act(counter_sign, town.small.as_eva, row.id)
    town.act(make_link, "reset", person_id=town.small.ada)
    duties = people_duties()
    clock.set("2018-06-02 00:00")
    for _ in range(3):
        for duty in duties:
            duty(town.office)
        clock.forward(minutes=30)
    with town.office.reading() as session:
        assert {message.state for message in session.scalars(select(Message))} == {"sent"}
        assert session.scalars(select(Link)).all() == []
    assert len(town.ask(deletions, town.campaign, clock())) == 1
    assert [duty(town.office) for duty in duties[1:]] == [None, None]
