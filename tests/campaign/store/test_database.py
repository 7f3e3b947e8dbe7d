"""Transactions keep all or nothing, and a writer is alone, on both databases."""

import pytest
from sqlalchemy import func, make_url, select, text

from basanite.campaign.archive.backup import snapshot
from basanite.campaign.jobs.queue import jobs_engine
from basanite.campaign.store.database import GONE_SECONDS, SERVER_LIMITS, in_blocks, make_engine
from basanite.campaign.store.tables import Team
from basanite.testing import small_office


def fail_after_change(office, team):
    with office.writing() as session:
        session.get(Team, team).name = "Changed"
        session.flush()
        raise RuntimeError


def test_a_small_season_can_be_read_again(office, small):
    with office.reading() as session:
        assert session.scalar(select(func.count()).select_from(Team)) == 2


def test_an_act_that_fails_leaves_nothing_behind(office, small):
    with pytest.raises(RuntimeError):
        fail_after_change(office, small.alpha)
    with office.reading() as session:
        assert session.get(Team, small.alpha).name == "Alpha"


@pytest.fixture
def postgres_office(tmp_path, server, template):
    """An office on PostgreSQL."""
    made = small_office(tmp_path, url=server.fresh(template))
    yield made
    made.close()


@pytest.mark.store
@pytest.mark.parametrize("limit", [*SERVER_LIMITS])
def test_the_server_is_told_not_to_wait_for_ever(limit, postgres_office):
    """Over TCP the server tells what it holds us to; on a socket of the file system some limits mean nothing."""
    if limit.startswith("tcp_"):
        assert f"-c {limit}=" in parameters(postgres_office)["options"]
        return
    for engine in (postgres_office.database.engine, jobs_engine(postgres_office.database.url)):
        with engine.connect() as connection:
            shown = connection.exec_driver_sql(f"SHOW {limit}").scalar_one()
            wanted = connection.exec_driver_sql(f"SELECT '{SERVER_LIMITS[limit]}'::interval").scalar_one()
            assert shown != "0"
            assert connection.exec_driver_sql(f"SELECT '{shown}'::interval").scalar_one() == wanted
        engine.dispose()


def parameters(office):
    with office.database.engine.connect() as connection:
        return connection.connection.driver_connection.info.get_parameters()


@pytest.mark.store
def test_this_side_notices_too_when_nobody_is_there(postgres_office):
    said = parameters(postgres_office)
    watched = ("connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count")
    assert all(0 < int(said[name]) <= 10 for name in watched)
    assert int(said["tcp_user_timeout"]) == 1000 * GONE_SECONDS


@pytest.mark.store
def test_what_the_address_says_about_patience_wins(postgres_office):
    url = make_url(postgres_office.database.url).update_query_dict(
        {"connect_timeout": "3", "options": "-c work_mem=1MB"}
    )
    engine = make_engine(url.render_as_string(hide_password=False))
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW idle_in_transaction_session_timeout").scalar_one() == "0"
        assert connection.exec_driver_sql("SHOW work_mem").scalar_one() == "1MB"
        assert connection.connection.driver_connection.info.get_parameters()["connect_timeout"] == "3"
    engine.dispose()


@pytest.mark.store
def test_a_backup_may_take_its_time_and_nobody_after_it(postgres_office):
    limit = text("SHOW idle_in_transaction_session_timeout")
    with snapshot(postgres_office) as connection:
        assert connection.execute(limit).scalar_one() == "0"
    with postgres_office.reading() as session:
        assert session.execute(limit).scalar_one() == SERVER_LIMITS["idle_in_transaction_session_timeout"]


@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_values_come_in_blocks_that_can_be_asked_for(count):
    blocks = [*in_blocks(iter(range(count)), 3)]
    assert [one for block in blocks for one in block] == [*range(count)]
    assert [len(block) for block in blocks] == {0: [], 1: [1], 3: [3], 4: [3, 1]}[count]
