"""Projects: nothing is served that was not checked, and truth lies where nobody looks (R-14, R-15)."""

import pytest
from annotating_stage import CONFIG, TEXTS, write_package

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.work.annotation import packages, setup
from basanite.campaign.work.annotation.lookup import configs, documents, find_project


def test_a_project_keeps_every_text_with_its_digest_and_its_configuration(small_stage):
    rows = small_stage.ask(documents, small_stage.project)
    assert {f"{row.part}/{row.name}" for row in rows} == set(TEXTS)
    for row in rows:
        assert packages.text_of(small_stage.office, row).text == TEXTS[f"{row.part}/{row.name}"]
        assert row.length == len(TEXTS[f"{row.part}/{row.name}"])
    (version,) = small_stage.ask(configs, small_stage.project)
    assert version.text == CONFIG
    assert version.version == 1


def test_texts_of_sealed_parts_and_gold_lie_among_the_sealed_files_and_not_where_pages_work(small_stage):
    office = small_stage.office
    project = small_stage.ask(find_project, small_stage.project)
    sealed = next(row for row in small_stage.ask(documents, small_stage.project) if row.part == "test")
    assert sealed.store == "sealed"
    assert office.sealed.has(sealed.digest)
    assert not office.files.has(sealed.digest)
    assert project.files["gold/v1.ndjson"][0] == "sealed"
    assert project.files["corpus/test.sha256"][0] == "sealed"
    there = {
        path.relative_to(packages.working_folder(office, project)).parts[0]
        for path in packages.working_folder(office, project).rglob("*")
        if path.is_file()
    }
    assert there == {"package.toml", "ontology.ttl", "guidelines.md", "queries", "rules"}


def test_a_configuration_is_refused_with_all_its_problems_and_nothing_is_kept(small_stage, matches):
    bad = CONFIG.replace("in: Match,", "in: Mach,").replace("?t goals ?value", "?t gaols ?value")
    with pytest.raises(RefusedError) as refusal:
        small_stage.do(
            setup.create_project,
            small_stage.season.as_eva,
            small_stage.season.campaign_id,
            setup.NewProject(matches, bad, name="x"),
        )
    assert refusal.value.status == 422
    words = " ".join(problem.message for problem in refusal.value.problems)
    assert "Mach" in words
    assert "gaols" in words
    assert all(problem.line for problem in refusal.value.problems)
    with pytest.raises(RefusedError):
        small_stage.ask(lambda session: find_project(session, "x"))


def test_a_package_with_problems_is_refused_too(small_stage, tmp_path):
    broken = write_package(tmp_path / "broken")
    (broken / "corpus" / "train" / "one.txt").write_text("changed after it was listed")
    with pytest.raises(RefusedError) as refusal:
        small_stage.do(
            setup.create_project,
            small_stage.season.as_eva,
            small_stage.season.campaign_id,
            setup.NewProject(broken, CONFIG, name="x"),
        )
    assert any("changed after it was listed" in problem.message for problem in refusal.value.problems)


def test_only_organisers_make_projects_and_names_are_taken_once(small_stage, matches):
    campaign = small_stage.season.campaign_id
    with pytest.raises(RefusedError) as refusal:
        small_stage.do(
            setup.create_project, small_stage.season.as_ada, campaign, setup.NewProject(matches, CONFIG, name="mine")
        )
    assert refusal.value.status == 403
    for name in ("matches", "No Name", "../x", ""):
        with pytest.raises(RefusedError):
            small_stage.do(
                setup.create_project, small_stage.season.as_eva, campaign, setup.NewProject(matches, CONFIG, name=name)
            )
    with pytest.raises(RefusedError):
        small_stage.do(
            setup.create_project,
            small_stage.season.as_eva,
            campaign,
            setup.NewProject(matches, CONFIG, name="x", per_document=0),
        )


def test_lists_of_choices_beside_the_configuration_come_along(small_stage, matches, tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "teams.csv").write_text("value,title\nFoxes,The Foxes\nOwls,The Owls\n")
    text = CONFIG.replace("name: text", "name: {choices: teams.csv}")
    (tmp_path / "c" / "conf.yaml").write_text(text)
    lists = packages.lists_beside(tmp_path / "c" / "conf.yaml")
    made = small_stage.do(
        setup.create_project,
        small_stage.season.as_eva,
        small_stage.season.campaign_id,
        setup.NewProject(matches, text, name="with-lists", lists=lists),
    )
    bench = packages.bench(small_stage.office, made, text)
    assert bench.config.categories["Team"].field("name").choice("Owls").title == "The Owls"


def test_a_closed_project_takes_nothing_and_opens_again_with_a_reason(small_stage):
    from basanite.work.annotation.events import Event

    with pytest.raises(RefusedError):
        small_stage.do(setup.close_project, small_stage.season.as_eva, small_stage.project, reason=" ")
    small_stage.do(setup.close_project, small_stage.season.as_eva, small_stage.project, reason="done")
    with pytest.raises(RefusedError) as refusal:
        small_stage.send(small_stage.anna, "one", Event("a", "done", {}))
    assert "closed" in str(refusal.value)
    small_stage.do(setup.open_project, small_stage.season.as_eva, small_stage.project, reason="one more")
    assert small_stage.send(small_stage.anna, "one", Event("a", "done", {})).stage == "done"
