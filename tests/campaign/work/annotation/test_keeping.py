"""Projects travel with their campaign, come back from backups, and outlive the people who worked on them."""

import json
import shutil
from contextlib import closing

import pytest
from sqlalchemy import func, select

from basanite.campaign.archive.backup import back_up
from basanite.campaign.archive.campaign_export import export_campaign
from basanite.campaign.archive.campaign_import import import_campaign
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people.privacy import erase_person, export_person
from basanite.campaign.sealing import Lock
from basanite.campaign.store.tables import (
    AnnotationConfig,
    AnnotationDecision,
    AnnotationDocument,
    AnnotationEvent,
    AnnotationProject,
    AnnotationTask,
)
from basanite.campaign.work.annotation import adjudication, annotator_work, outcome
from basanite.campaign.work.annotation.lookup import document_named
from basanite.testing import season, small_campaign_text, small_office

TABLES = (
    AnnotationProject,
    AnnotationConfig,
    AnnotationDocument,
    AnnotationTask,
    AnnotationEvent,
    AnnotationDecision,
)
FOXES = [("Foxes", [6, 11], 2)]


@pytest.fixture
def worked(small_stage):
    for person in (small_stage.anna, small_stage.axel):
        small_stage.annotate(person, "one", FOXES)
    text = small_stage.ask(document_named, small_stage.project, "one").id
    small_stage.do(adjudication.accept_unanimous, Actor(small_stage.judy), text)
    small_stage.do(adjudication.finish, Actor(small_stage.judy), text)
    return small_stage


@pytest.fixture
def other(tmp_path, clock):
    """Another server."""
    with closing(small_office(tmp_path / "other", clock, address="https://other.example")) as office:
        season(office, small_campaign_text(slug="local"))
        yield office


def test_a_project_arrives_on_another_server_with_its_whole_history_and_nobody_in_it(worked, other, tmp_path):
    export_campaign(worked.office, worked.season.campaign_id, tmp_path / "export", references=True)
    import_campaign(other, COMMAND, tmp_path / "export")
    with worked.office.reading() as here, other.reading() as there:
        for table in TABLES:
            counts = [session.scalar(select(func.count()).select_from(table)) for session in (here, there)]
            assert counts[0] == counts[1] > 0, table
        assert all(one.startswith("foreign-") for one in there.scalars(select(AnnotationTask.person_id)))
        found = outcome.results(there, other, COMMAND, worked.project)
    assert [one.document.name for one in found.texts] == ["one"]
    assert len(found.texts[0].assertions) > 0
    with pytest.raises(RefusedError), other.writing() as session:
        annotator_work.open_task(session, other, Actor(worked.anna), worked.task(worked.anna, "one"))


def test_sealed_texts_stay_at_home_unless_asked_for_and_their_absence_is_said(worked, other, tmp_path):
    export_campaign(worked.office, worked.season.campaign_id, tmp_path / "export")
    import_campaign(other, COMMAND, tmp_path / "export")
    with other.writing() as session, pytest.raises(RefusedError) as refusal:
        outcome.grow(session, other, COMMAND, worked.project, tmp_path / "grown", reason="here")
    assert "did not come" in str(refusal.value)


@pytest.mark.parametrize("fault", ["store", "path", "task"])
def test_a_hostile_export_is_refused(worked, other, tmp_path, fault):
    export_campaign(worked.office, worked.season.campaign_id, tmp_path / "export", references=True)
    folder = tmp_path / "export"
    table, change = {
        "store": ("annotation_documents", {"store": "../../etc"}),
        "path": ("annotation_projects", {"files": {"../../evil": ["files", "no digest"]}}),
        "task": ("annotation_events", {"annotation_task_id": "elsewhere"}),
    }[fault]
    path = folder / "rows" / f"{table}.jsonl"
    lines = [json.dumps(json.loads(line) | change) for line in path.read_text().splitlines()]
    path.write_text("".join(f"{line}\n" for line in lines))
    from hashlib import sha256

    manifest = json.loads((folder / "export.json").read_text())
    manifest["digests"][f"rows/{table}.jsonl"] = sha256(path.read_bytes()).hexdigest()
    (folder / "export.json").write_text(json.dumps(manifest))
    with pytest.raises(RefusedError):
        import_campaign(other, COMMAND, folder)


def test_a_path_that_leads_out_is_refused_when_the_package_is_laid_out(worked, tmp_path):
    with worked.office.writing() as session:
        project = session.get(AnnotationProject, worked.project)
        project.files = {**project.files, "../../evil.txt": project.files["guidelines.md"]}
    shutil.rmtree(worked.office.settings.data / "annotation")
    with pytest.raises(RefusedError):
        worked.do(outcome.grow, worked.season.as_eva, worked.project, tmp_path / "a" / "b" / "grown", reason="x")
    assert not (tmp_path / "a" / "evil.txt").exists()


def test_everything_that_rows_speak_of_is_in_a_backup(worked, tmp_path):
    saved = back_up(worked.office, Lock(b"k" * 32), tmp_path / "backup")
    assert not saved.missing
    assert saved.rows["annotation_events"] > 0
    assert saved.rows["annotation_decisions"] > 0


def test_an_erased_annotator_leaves_the_work_under_an_id_that_names_nobody(worked):
    rows = worked.do(export_person, Actor(worked.anna), worked.anna)["rows"]
    assert len(rows["annotation_tasks"]) == 4
    worked.do(erase_person, Actor(worked.anna), worked.anna)
    (result,) = worked.ask_office(outcome.results, worked.season.as_eva, worked.project).texts
    assert len(result.state.objects) == 3
    with pytest.raises(RefusedError):
        worked.do(annotator_work.open_task, Actor(worked.anna), worked.task(worked.anna, "two"))
