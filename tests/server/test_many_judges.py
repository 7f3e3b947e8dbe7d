"""Many judges at once on a real server: every judgement is stored exactly once."""

import pytest
from tests.offices.judges import count_stored, crew, judge_all
from tests.server.live import live

HUNDRED = pytest.param(100, 2, marks=pytest.mark.timeout(240), id="a hundred")
THOUSAND = pytest.param(1000, 3, marks=(pytest.mark.slow, pytest.mark.timeout(3600)), id="a thousand")


@pytest.mark.slow
@pytest.mark.req("R-2")
@pytest.mark.parametrize(("judges", "per_item"), [HUNDRED, THOUSAND])
def test_all_judges_at_once_store_every_judgement_exactly_once(office, small, judges, per_item):
    made = crew(office, small.campaign_id, small.slug, judges=judges, items=judges, per_item=per_item)
    with live(office) as address:
        seen = judge_all(address, made)
    found = count_stored(office, made)
    assert (seen.stored, seen.failed, seen.ended) == (made.wanted, 0, judges)
    assert seen.repeated > 0
    assert (found.judgements, found.assignments, found.open, found.wrong) == (made.wanted, made.wanted, 0, 0)
