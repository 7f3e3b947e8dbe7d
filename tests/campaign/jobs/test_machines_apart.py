"""A web machine and a worker machine that share a database, an object store and the secrets, and no disk (P-15)."""

import pytest
from sqlalchemy import select
from tests.offices.machines import QUICK, all_ended, judge, states, wait_until
from tests.offices.submitting import crowd, submit

from basanite.campaign.jobs.worker import running
from basanite.campaign.office import Office
from basanite.campaign.settings import Settings
from basanite.campaign.store.tables import Result
from basanite.testing import small_office


@pytest.mark.store
def test_what_is_submitted_on_one_machine_is_scored_on_another_by_settings_alone(server, buckets, tmp_path, pack):
    given = {"url": server.fresh(), "storage": buckets, "limits": QUICK, "encrypt_references": True}
    web = small_office(tmp_path / "web", **given, vault=tmp_path / "secrets")
    worker = Office.open(
        Settings(
            data=tmp_path / "worker",
            vault=tmp_path / "secrets",
            database=web.settings.database,
            storage=buckets,
            limits=web.settings.limits,
            encrypt_references=True,
        )
    )
    try:
        teams = crowd(web, pack.key, teams=2)
        submit(web, teams.members[0], pack.perfect)
        submit(web, teams.members[1], pack.invalid)
        with running(worker, ()):
            assert wait_until(lambda: all_ended(web), 200)
        assert states(web) == {"scored": 1, "invalid": 1}
        assert judge(web).wrong == ()
        with web.reading() as session:
            digest = session.scalars(select(Result.digest)).one()
        assert b'"aqwv"' in web.files.read(digest)
        assert not list((tmp_path / "worker" / "sealed").glob("??/*[!d]")), "only encrypted copies of references"
    finally:
        web.close()
        worker.close()
