"""The doctor tells which database and which storage a server uses, and whether the object store answers (P-15)."""

import pytest
from tests.offices.engines import object_store

from basanite.campaign.settings import Storage
from basanite.server import checkup
from basanite.testing import small_office


@pytest.fixture(scope="module")
def store():
    with object_store() as running:
        yield running


def told(folder, **settings):
    office = small_office(folder, **settings)
    try:
        return checkup.database(office), checkup.storage(office)
    finally:
        office.close()


@pytest.mark.sqlite("what the doctor says without settings")
def test_without_settings_everything_is_on_this_machine(tmp_path):
    database, storage = told(tmp_path)
    assert (database.words, storage.state) == ("sqlite", "good")
    assert "on this machine" in storage.words


def test_with_two_buckets_that_answer_all_is_well(tmp_path, store):
    storage = told(tmp_path, storage=store.fresh())[1]
    assert (storage.state, storage.words) == ("good", "files and references lie in an object store that answers")


def test_references_on_one_machine_alone_are_remarked(tmp_path, store):
    storage = told(tmp_path, storage=store.fresh().model_copy(update={"sealed": ""}))[1]
    assert (storage.state, "references on this machine alone" in storage.words) == ("note", True)


def test_a_bucket_that_is_not_there_is_bad_and_has_a_cure(tmp_path, store):
    wrong: Storage = store.fresh().model_copy(update={"files": "s3://nowhere"})
    storage = told(tmp_path, storage=wrong)[1]
    assert (storage.state, "[storage]" in storage.cure) == ("bad", True)
