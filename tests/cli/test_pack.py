"""`basanite pack`: right names only, checked files only, the same bytes for the same files, nothing written over."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest
from tests.cli.running import EXAMPLE, Ended, here

NAME = "NIST_CLIR-primary-unconstrained-QUERY1-Alpha_BASE-1A-EVAL1_20180131_120000.tgz"
PARTS = {"team": "NIST", "label": "Alpha", "type": "primary", "set": "QUERY1", "period": "BASE", "language": "1A"}
PARTS |= {"dataset": "EVAL1", "time": "2018-01-31T12:00:00"}
LISTS = ("--documents", EXAMPLE / "documents.txt", "--queries", EXAMPLE / "queries.txt")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """The files of a good submission."""
    folder = tmp_path_factory.mktemp("files") / "run"
    with tarfile.open(EXAMPLE / "Alpha.tgz") as tar:
        tar.extractall(folder, filter="data")
    return folder


def words(**changed: str | None) -> list[str]:
    """The options of a good name, with some changed or left out."""
    return [word for part, value in (PARTS | changed).items() if value for word in (f"--{part}", value)]


def pack(folder: Path, out: Path, *more: str | Path, task: str = "clir") -> Ended:
    return here("pack", task, folder, *more, cwd=out)


@pytest.mark.req("M56", "M53", case="good")
def test_the_archive_has_the_right_name_and_is_a_valid_submission(run, tmp_path):
    ended = pack(run, tmp_path, *words(), *LISTS)
    assert (ended.code, ended.stderr) == (0, "")
    path, digest = ended.stdout.splitlines()
    assert (path, digest.endswith(" (20 files)")) == (NAME, True)
    checked = here("validate", "clir", "--reference", EXAMPLE / "key", "--submission", tmp_path / NAME, "--json")
    assert (checked.code, checked.data["problems"]) == (0, [])
    scored = here(
        "score", "clir", "--reference", EXAMPLE / "key", "--submission", tmp_path / NAME, "--json", "--draws", "1"
    )
    assert digest.startswith(scored.data["digests"]["submission"])


def test_the_same_files_and_time_give_the_same_bytes(run, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        assert pack(run, tmp_path, *words(), "--out", name).code == 0
    first, second = ((tmp_path / name / NAME).read_bytes() for name in ("a", "b"))
    assert first == second


@pytest.mark.req("M55", case="good")
def test_for_the_web_the_label_is_enough_and_json_tells_what_was_written(run, tmp_path):
    ended = pack(run, tmp_path, "--web", "--label", "Alpha", "--reference", EXAMPLE / "key", "--json")
    assert ended.code == 0
    assert {key: ended.data[key] for key in ("written", "files", "checked", "valid")} == {
        "written": "Alpha.tgz",
        "files": 20,
        "checked": "all",
        "valid": True,
    }
    with tarfile.open(tmp_path / "Alpha.tgz") as tar:
        names = tar.getnames()
    assert names == sorted(names)


def test_without_lists_it_is_said_what_could_not_be_checked(run, tmp_path):
    ended = pack(run, tmp_path, "--web", "--label", "Alpha")
    assert ended.code == 0
    assert "without a key or lists" in ended.stderr


@pytest.mark.req("M56", case="bad")
@pytest.mark.parametrize(
    ("changed", "rule", "part"),
    [
        ({"team": "NI_ST"}, "M56", "team"),
        ({"label": "Al-pha"}, "M56", "label"),
        ({"set": "GOV"}, "M56", "set"),
        ({"period": "base"}, "M56", "period"),
        ({"language": "SWA"}, "M56", "language"),
        ({"dataset": "TEST"}, "M56", "dataset"),
    ],
)
def test_a_bad_name_is_refused_part_by_part_and_nothing_is_written(run, tmp_path, changed, rule, part):
    ended = pack(run, tmp_path, *words(**changed), "--json")
    assert ended.code == 1
    (problem,) = ended.data["problems"]
    assert (problem["rule"], problem["severity"]) == (rule, "reject")
    assert f"the {part} of" in problem["message"]
    assert ended.data["written"] is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("M55", case="bad")
def test_a_bad_label_for_the_web_is_refused(run, tmp_path):
    ended = pack(run, tmp_path, "--web", "--label", "my system", "--json")
    assert (ended.code, [one["rule"] for one in ended.data["problems"]]) == (1, ["M55"])


@pytest.mark.parametrize("lists", [(), LISTS])
def test_files_with_problems_are_not_packed(tmp_path, lists):
    ended = pack(EXAMPLE / "broken", tmp_path, *words(), *lists, "--json")
    assert ended.code == 1
    assert {"M21", "M22", "M26", "M27", "M28", "M29"} <= set(ended.data["counts"])
    assert list(tmp_path.iterdir()) == []


def test_files_that_lie_too_deep_or_are_no_tables_are_refused(run, tmp_path):
    ended = pack(run.parent, tmp_path, *words(), "--json")
    assert (ended.code, "M53" in ended.data["counts"]) == (1, True)
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/notes.md").write_text("x")
    assert pack(tmp_path / "odd", tmp_path, *words(), "--json").data["counts"] == {"M25": 1}


def test_nothing_is_written_over(run, tmp_path):
    assert pack(run, tmp_path, *words()).code == 0
    before = (tmp_path / NAME).read_bytes()
    ended = pack(run, tmp_path, *words())
    assert (ended.code, "already exists" in ended.stderr) == (2, True)
    assert (tmp_path / NAME).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["clir"], "Give a task and a folder"),
        (["clir", ".", "--label", "A"], "--team, --type, --period, --language, --dataset"),
        (["clri", ".", "--label", "A", "--web"], "Did you mean 'clir'?"),
        (["clir", str(EXAMPLE / "Alpha.tgz"), "--label", "A", "--web"], "is not a folder"),
        (["clir", ".", "--label", "A", "--web", "--out", "none"], "does not exist"),
        (["clir", ".", "--label", "A", "--web", "--time", "today"], "today"),
    ],
)
def test_misuse_is_answered_with_its_cure(tmp_path, arguments, said):
    ended = here("pack", *arguments, cwd=tmp_path)
    assert (ended.code, said in ended.stderr) == (2, True), ended.stderr


def test_settings_of_the_task_are_taken_as_elsewhere(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/q1.tsv").write_text("d1\tY\t0.9\nd2\tN\t0.1\n")
    assert pack(tmp_path / "run", tmp_path, *words()).code == 1
    assert pack(tmp_path / "run", tmp_path, *words(), "--set", "document_pattern=d[0-9]+").code == 0


@pytest.mark.req("M59", case="good")
@pytest.mark.parametrize("given", [("--set", "GOV", "--set", "LIF"), ("--set", "GOV-LIF")])
def test_domains_become_a_list_in_the_name(tmp_path, given):
    (tmp_path / "run").mkdir()
    for code in ("GOV", "LIF"):
        (tmp_path / f"run/{code}.tsv").write_text("MATERIAL_BASE-1A_00000001\tY\t0.9\n")
    ended = pack(tmp_path / "run", tmp_path, *words(set=None), *given, task="domainid")
    assert ended.stdout.startswith("NIST_DomainID-primary-unconstrained-GOV-LIF-Alpha_BASE-1A-EVAL1_")


def summaries(folder: Path) -> Path:
    for query in ("query1", "query2"):
        (folder / query).mkdir(parents=True)
        (folder / query / f"{query}.tsv").write_text("MATERIAL_BASE-1A_00000001\tN\t0.1\n")
        (folder / query / f"NIST.Alpha.{query}.MATERIAL_BASE-1A_00000001.json").write_text("{}")
    return folder


@pytest.mark.req("C24")
def test_end_to_end_there_is_one_folder_for_each_query(tmp_path):
    folder = summaries(tmp_path / "run")
    ended = pack(folder, tmp_path, *words(), task="e2e")
    assert ended.code == 0, ended.stderr
    with tarfile.open(tmp_path / NAME.replace("CLIR", "E2E")) as tar:
        assert len(tar.getnames()) == 4
        assert all(name.count("/") == 1 for name in tar.getnames())
    for place in ("loose.tsv", "query1/deep/x.json", "query3/other.tsv"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text("x")
        assert pack(folder, tmp_path, *words(label="Beta"), task="e2e").code == 1
        (folder / place).unlink()


def test_a_name_is_explained(tmp_path):
    ended = here("pack", "--explain", NAME, cwd=tmp_path)
    assert ended.code == 0
    assert [line.split()[:2] for line in ended.stdout.splitlines()][:3] == [
        ["team", "NIST"],
        ["task", "CLIR"],
        ["type", "primary"],
    ]
    parts = here("pack", "--explain", NAME, "--json", cwd=tmp_path).data["parts"]
    assert parts[4] == {"part": "set", "value": "QUERY1", "meaning": parts[4]["meaning"]}


@pytest.mark.req("M57", case="bad")
def test_a_name_that_is_off_is_explained_by_its_problems(tmp_path):
    ended = here("pack", "--explain", NAME.replace("primary", "best"), "--json", cwd=tmp_path)
    assert (ended.code, ended.data["counts"]) == (1, {"M57": 1})


@pytest.mark.req("C23")
@pytest.mark.parametrize("name", ["query00043.tsv", "GOV.tsv", "odd name.tsv"])
def test_the_command_we_advise_packs_files_of_any_name(tmp_path, name):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).write_text("MATERIAL_BASE-1A_00000001\tY\t0.9\n")
    (tmp_path / "run.zip").write_bytes(b"PK\x03\x04")
    advice = here("validate", "clir", "--submission", tmp_path / "run.zip", *LISTS, "--json").data["problems"]
    command = next(one["fix"].partition("with: ")[2] for one in advice if one["rule"] == "M53")
    assert command.startswith("tar zcf LABEL.tgz ")
    subprocess.run(["bash", "-c", command], cwd=tmp_path / "run", check=True, timeout=60)
    with tarfile.open(tmp_path / "run/LABEL.tgz", "r:gz") as tar:
        assert tar.getnames() == [name]


def test_the_folder_one_stands_in_can_be_packed(tmp_path):
    (tmp_path / "q1.tsv").write_text("MATERIAL_BASE-1A_00000001\tY\t0.9\n")
    ended = here("pack", "clir", ".", "--web", "--label", "Alpha", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Alpha.tgz", "q1.tsv"]


@pytest.mark.parametrize(
    ("setting", "said"), [("document_pattern=(", "cannot be used"), ("foo=bar", "no setting 'foo'")]
)
def test_a_setting_that_cannot_be_used_is_refused_without_a_key_too(run, tmp_path, setting, said):
    ended = pack(run, tmp_path, *words(), "--set", setting)
    assert (ended.code, said in ended.stderr) == (2, True), ended.stderr


@pytest.mark.req("M26", case="bad")
def test_an_empty_file_is_not_packed(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/q1.tsv").write_text("\n")
    (tmp_path / "run/q2.tsv").write_text("MATERIAL_BASE-1A_00000001\tY\t0.9\n")
    assert pack(tmp_path / "run", tmp_path, *words(), "--json").data["counts"] == {"M26": 1}
