"""The child gives the bytes that the command line prints, and can do nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.offices.submitting import pack_folder

import basanite
from basanite.campaign.jobs.scoring_process import Given, Order, run_order
from basanite.cli import app
from basanite.figures import Chart, figures_object, read_figures
from basanite.reports import charts
from basanite.sandbox.child import CHECKED
from basanite.tasks.retrieval.detection_charts import detection_figures

EXAMPLES = Path(__file__).parents[3] / "examples"
CASES = {
    "clir": ("key", "Alpha.tgz", {"metadata": ("metadata/documents.tsv", "metadata/queries.tsv")}),
    "e2e": ("key", "Alpha.tgz", {"judgements": "Alpha.judgements.tsv"}),
    "domainid": ("key", "Beta.tgz", {"metadata": ("metadata/documents.tsv",)}),
    "langid": ("key", "Alpha.tgz", {}),
    "translation": ("reference.jsonl", "Alpha.jsonl", {}),
}


@pytest.fixture(autouse=True)
def children():
    """Real ones, each a new Python in a box: they are what is looked at here."""


def given(path):
    return Given(path.name, path)


def key_of(task, folder):
    """The reference of an example as one file: folders are packed, as references are kept."""
    path = EXAMPLES / task / CASES[task][0]
    if path.is_file():
        return given(path)
    (folder / "key.tgz").write_bytes(pack_folder(path))
    return given(folder / "key.tgz")


def example(task, folder, work="examine", **more):
    _, submission, files = CASES[task]
    roles = {
        role: tuple(given(EXAMPLES / task / name) for name in names)
        if isinstance(names, tuple)
        else given(EXAMPLES / task / names)
        for role, names in files.items()
    }
    return Order(work, task, (key_of(task, folder),), given(EXAMPLES / task / submission), **{**roles, **more})


def printed(command, task):
    reference, submission, files = CASES[task]
    words = [command, task, "--json", "--reference", str(EXAMPLES / task / reference)]
    for role, names in files.items():
        for name in names if isinstance(names, tuple) else (names,):
            words += [f"--{role}", str(EXAMPLES / task / name)]
    words += ["--submission", str(EXAMPLES / task / submission)]
    return CliRunner().invoke(app, words).stdout.encode()


@pytest.mark.req("S-6", "X-8", case="good")
@pytest.mark.parametrize("task", list(CASES))
def test_the_child_writes_what_the_command_line_prints(task, sqlite_office, tmp_path):
    with run_order(sqlite_office, example(task, tmp_path)) as outcome:
        assert outcome.good, outcome.ended
        assert outcome.path("problems.json").read_bytes() == printed("validate", task)
        assert outcome.path("result.json").read_bytes() == printed("score", task)


def test_a_comparison_has_the_bytes_of_the_command_line(sqlite_office, tmp_path):
    systems = {name: given(EXAMPLES / "clir" / f"{name}.tgz") for name in ("Alpha", "Beta")}
    order = Order("compare", "clir", (key_of("clir", tmp_path),), systems=systems)
    wanted = ["compare", "clir", "--json", "--reference", str(EXAMPLES / "clir/key")]
    for name in systems:
        wanted += ["--submission", str(EXAMPLES / f"clir/{name}.tgz")]
    with run_order(sqlite_office, order) as outcome:
        assert outcome.path("comparison.json").read_bytes() == CliRunner().invoke(app, wanted).stdout.encode()


def test_an_invalid_submission_gives_its_problems_and_no_result(sqlite_office, tmp_path):
    (tmp_path / "broken.tgz").write_bytes(pack_folder(EXAMPLES / "clir/broken"))
    order = Order("examine", "clir", (key_of("clir", tmp_path),), given(tmp_path / "broken.tgz"))
    with run_order(sqlite_office, order) as outcome:
        assert outcome.good
        assert json.loads(outcome.path("problems.json").read_bytes())["valid"] is False
        assert outcome.path("result.json") is None


def test_settings_that_do_not_fit_are_no_fault_of_the_submission(sqlite_office, tmp_path):
    with run_order(sqlite_office, example("clir", tmp_path, settings={"colour": "red"})) as outcome:
        assert not outcome.good
        assert "settings" in outcome.fault
        assert outcome.overran == ""


def test_a_child_without_a_box_gives_the_same_bytes(sqlite_office, tmp_path, monkeypatch):
    no_box(monkeypatch)
    with run_order(sqlite_office, example("clir", tmp_path, sealed=False)) as outcome:
        assert outcome.good, outcome.ended
        assert outcome.path("result.json").read_bytes() == printed("score", "clir")


def test_a_sealed_reference_is_not_scored_without_a_box_unless_the_settings_say_so(
    sqlite_office, tmp_path, monkeypatch
):
    from basanite.sandbox.runner import NoSandboxError

    no_box(monkeypatch)
    with pytest.raises(NoSandboxError, match="sealed"), run_order(sqlite_office, example("clir", tmp_path)):
        pass
    sqlite_office.settings.limits.box = "best"
    with run_order(sqlite_office, example("clir", tmp_path)) as outcome:
        assert outcome.good


def no_box(monkeypatch):
    """As on a machine whose kernel lets nobody make a box."""
    from basanite.campaign.jobs import scoring_process
    from basanite.sandbox.runner import Capability

    monkeypatch.setattr(scoring_process, "capability", lambda: Capability("", "user namespaces are switched off"))


HOSTILE = """
import os, socket, sys
from pathlib import Path
seen = []
try:
    socket.create_connection(("127.0.0.1", {port}), 1)
    seen.append("network")
except OSError:
    pass
for place in {places!r}:
    if Path(place).exists():
        seen.append(place)
for name in ("in/order.json", "/usr/x", {package!r} + "/x"):
    try:
        open(name, "a").close()
        seen.append("writes " + name)
    except OSError:
        pass
seen += [name for name in os.environ if name not in ("PATH", "HOME", "LC_ALL", "LC_CTYPE") and "THREADS" not in name]
seen += ["process"] if len([p for p in os.listdir("/proc") if p.isdigit()]) > 2 else []
Path("out/seen.txt").write_text("\\n".join(seen))
"""


def test_in_its_box_a_child_sees_no_network_no_database_no_environment_and_no_other_process(
    sqlite_office, tmp_path, monkeypatch
):
    import socket

    import basanite
    from basanite.campaign.jobs import scoring_process

    with socket.create_server(("127.0.0.1", 0)) as listening:
        places = [str(sqlite_office.settings.data), str(sqlite_office.settings.vault_folder), str(tmp_path)]
        program = HOSTILE.format(
            port=listening.getsockname()[1], places=places, package=str(Path(basanite.__file__).parent)
        )
        monkeypatch.setattr(scoring_process, "COMMAND", (scoring_process.COMMAND[0], "-I", "-c", program))
        monkeypatch.setenv("BASANITE_SECRET", "x")
        with run_order(sqlite_office, example("clir", tmp_path)) as outcome:
            assert outcome.good, outcome.ended
            assert outcome.path("seen.txt").read_text() == ""


GREEDY = {"time": "while True: pass", "memory": "x = b'x' * 2**30\nwhile True: pass"}


@pytest.mark.parametrize("limit", list(GREEDY))
def test_a_child_that_takes_too_much_is_ended(limit, sqlite_office, tmp_path, monkeypatch):
    from basanite.campaign.jobs import scoring_process

    sqlite_office.settings.limits.seconds = 2 if limit == "time" else 40
    sqlite_office.settings.limits.memory = 300 * 2**20
    monkeypatch.setattr(scoring_process, "COMMAND", (scoring_process.COMMAND[0], "-I", "-c", GREEDY[limit]))
    with run_order(sqlite_office, example("clir", tmp_path)) as outcome:
        assert outcome.overran == limit
        assert CHECKED not in outcome.ended.stdout
    assert list((sqlite_office.settings.data / "scratch").iterdir()) == []


@pytest.mark.req("P-18")
def test_beside_a_result_lie_the_charts_of_its_task_as_data(sqlite_office, tmp_path):
    inputs = {"reference": EXAMPLES / "clir/key", "submission": EXAMPLES / "clir/Alpha.tgz"}
    metadata = [EXAMPLES / "clir" / name for name in CASES["clir"][2]["metadata"]]
    drawn = detection_figures(basanite.score("clir", metadata=metadata, **inputs))
    with run_order(sqlite_office, example("clir", tmp_path)) as outcome:
        read = read_figures(json.loads(outcome.path("figures.json").read_bytes()))
    assert [one.title for one in read] == [one.title for one in drawn]
    assert [charts.svg(one) for one in read if isinstance(one, Chart)] == [
        charts.svg(one) for one in read_figures(figures_object(drawn)) if isinstance(one, Chart)
    ]


def test_the_interpreter_is_named_without_detours():
    """Started as `../bin/python`, the folder before the dots would not be in the box."""
    command = (
        "import os, sys; sys.executable = '/a/b/../bin/python'; from basanite.campaign.jobs import scoring_process"
    )
    shown = subprocess.run(
        [sys.executable, "-c", f"{command}; print(scoring_process.COMMAND[0])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == "/a/bin/python"


def test_a_file_that_is_not_of_the_store_keeps_its_mode(sqlite_office, pack, tmp_path):
    import shutil

    from basanite.campaign.jobs.scoring_process import Given, lay

    path = tmp_path / "key.tsv"
    shutil.copyfile(next(pack.key.iterdir()), path)
    path.chmod(0o640)
    (tmp_path / "box").mkdir()
    lay(Given("key.tsv", path), tmp_path / "box", "reference")
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_nlink == 1
