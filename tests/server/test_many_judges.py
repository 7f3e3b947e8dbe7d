"""Many judges at once on a real server: every judgement is stored exactly once."""

import pytest
from tests.server.live import live

from basanite.testing.judges import crew, judge_all, stored

JUDGES, ITEMS, PER_ITEM = 40, 40, 2


@pytest.mark.req("R-2")
@pytest.mark.timeout(180)
def test_forty_judges_at_once_store_every_judgement_exactly_once(office, small):
    made = crew(office, small.campaign_id, small.slug, judges=JUDGES, items=ITEMS, per_item=PER_ITEM)
    with live(office) as address:
        seen = judge_all(address, made)
    found = stored(office, made)
    assert (seen.stored, seen.failed, seen.ended) == (made.wanted, 0, JUDGES)
    assert seen.repeated > 0
    assert (found.judgements, found.assignments, found.open, found.wrong) == (made.wanted, made.wanted, 0, 0)
