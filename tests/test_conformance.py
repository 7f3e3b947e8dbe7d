"""The count of what is proven can be trusted: nothing unproven passes for proven, nothing stale for fresh."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools import conformance
from tools.conformance import Evidence, Record, Requirement, compact, lack, load_record, load_requirements
from tools.doors import Entrances
from tools.markdown_pages import anchors, broken_links, examples, slug, steps

ROOT = Path(__file__).resolve().parent.parent

REQUIREMENTS = """
[M28]
line = "A decision is Y or N"
proof = "test"
cases = "both"

[M30]
line = "A constant is legal"
proof = "test"

[C01]
line = "A slip in a heading"
proof = "page"
anchor = "docs/rulings.md#c01"

[P-1]
line = "One command starts all"
proof = "command"
command = "make demo"
"""

TESTS = """
import basanite
import pytest

@pytest.mark.req("M28", case="good")
def test_good(): assert basanite.score

@pytest.mark.req("M28", case="bad")
def test_bad(): assert {bad} and basanite.score

class TestMore:
    @pytest.mark.req("M30")
    @pytest.mark.parametrize("n", [1, 2])
    def test_constant(self, n): assert basanite.validate

@pytest.mark.req("M30")
def test_skipped(): pytest.skip("not here")
"""

SETTINGS = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\nmarkers = ["req: r", "slow: s", "gpu: g"]\n'
GOOD_AND_BAD = ("tests/test_it.py::test_good", "tests/test_it.py::test_bad")
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@pytest.fixture
def project(tmp_path):
    """A small project with requirements, tests, a ruling and a Makefile."""
    write(tmp_path / "docs/conformance.toml", REQUIREMENTS)
    write(tmp_path / "docs/reference/python.md", "### basanite.score\n\n### basanite.validate\n")
    write(tmp_path / "docs/rulings.md", "## C01\n\nThe first column is V.\n")
    write(tmp_path / "Makefile", "all:\n\tmake demo\n")
    write(tmp_path / "pyproject.toml", SETTINGS)
    write(tmp_path / "tests/test_it.py", TESTS.format(bad="True"))
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def run_pytest(project, *options):
    """Run the project's own tests with the recorder, apart from this run."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV"))}
    plugins = ["-p", "tools.requirement_marks", "-p", "xdist.plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *plugins, "-q", *options]
    environment = {**kept, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **ALONE}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def recorded(project):
    return json.loads((project / "build/requirements.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_complete_run_records_who_proves_what(project, workers):
    ran = run_pytest(project, "-m", "not slow and not gpu", *workers)
    assert ran.returncode == 0, ran.stdout
    record = recorded(project)
    assert record["complete"] is True
    assert record["ids"]["M28"]["cases"] == {
        "good": ["tests/test_it.py::test_good"],
        "bad": ["tests/test_it.py::test_bad"],
    }
    assert len(record["ids"]["M30"]["passed"]) == 2
    assert record["ids"]["M30"]["skipped"] == ["tests/test_it.py::test_skipped"]


def test_a_failing_test_takes_the_proof_away(project):
    write(project / "tests/test_it.py", TESTS.format(bad="False"))
    assert run_pytest(project).returncode == 1
    evidence = load_record(project / conformance.RECORD).ids["M28"]
    assert evidence.failed == ("tests/test_it.py::test_bad",)
    assert lack(Requirement("M28", "x", "test"), Record({"M28": evidence}), Entrances(project)).startswith("fails")


@pytest.mark.parametrize(
    "selection", [["-k", "good"], ["tests/test_it.py"], ["-m", "slow or not slow"], ["--maxfail=9"]]
)
def test_a_run_of_some_tests_leaves_the_record_alone(project, selection):
    write(project / "build/requirements.json", "{}")
    run_pytest(project, *selection)
    assert recorded(project) == {}


@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
@pytest.mark.parametrize(("mark", "message"), [('"M99"', "M99"), ('"M28", case="ugly"', "ugly")])
def test_a_mark_that_names_nothing_fails_the_collection(project, mark, message, workers):
    write(project / "tests/test_wrong.py", f"import pytest\n\n@pytest.mark.req({mark})\ndef test_wrong(): pass\n")
    ran = run_pytest(project, *workers)
    assert ran.returncode != 0
    assert message in ran.stdout
    assert not (project / "build/requirements.json").exists()


def test_a_fresh_record_is_counted_and_a_changed_tree_is_called_stale(project, capsys):
    run_pytest(project)
    assert conformance.main(["--strict"], project) == 0
    assert "Proven: 4 of 4" in capsys.readouterr().out
    write(project / "docs/rulings.md", "## C01\n\nThe first column is the value.\n")
    assert conformance.main([], project) == 0
    assert "Stale" in capsys.readouterr().out
    assert conformance.main(["--strict"], project) == 1


@pytest.mark.parametrize("workers", [pytest.param([], marks=pytest.mark.slow), ["-n", "2"]])
def test_what_slow_tests_prove_counts_from_the_run_of_all_tests_and_is_named(project, capsys, workers):
    slow = TESTS.format(bad="True").replace("class TestMore", "@pytest.mark.slow\nclass TestMore")
    write(project / "tests/test_it.py", slow)
    run_pytest(project, "-m", "not slow and not gpu", *workers)
    assert conformance.main(["--verbose"], project) == 0
    out = capsys.readouterr().out
    assert "[no passing test; `make test-all` has one]" in out
    assert "Counted from build/requirements.json (`make test`)." in out
    run_pytest(project, "-m", "not gpu", *workers)
    assert conformance.main(["--strict"], project) == 0
    assert "(`make test-all`)." in capsys.readouterr().out
    run_pytest(project, "-m", "not slow and not gpu", *workers)
    assert conformance.main(["--strict"], project) == 0
    assert (
        "Proven by slow tests alone, from build/requirements-all.json (`make test-all`):\n  M30"
        in capsys.readouterr().out
    )
    write(project / "tests/test_it.py", slow + "\n")
    run_pytest(project, "-m", "not slow and not gpu", *workers)
    assert conformance.main(["--strict"], project) == 1
    assert "run `make test-all` again" in capsys.readouterr().out


def test_without_a_record_gaps_are_listed_and_only_punished_when_asked(project, capsys):
    assert conformance.main([], project) == 0
    out = capsys.readouterr().out
    assert "Proven: 2 of 4" in out
    assert "make test" in out
    assert "  M28 M30" in out
    assert conformance.main(["--require", "C01", "P-1"], project) == 0
    assert conformance.main(["--require", "M28"], project) == 1
    assert "M28 lacks proof: no passing test" in capsys.readouterr().err
    assert conformance.main(["--strict"], project) == 1
    assert conformance.main(["--require", "M99"], project) == 2


def test_verbose_gives_each_gap_its_line_and_reason(project, capsys):
    conformance.main(["--verbose"], project)
    assert "M28   A decision is Y or N [no passing test]" in capsys.readouterr().out


def test_both_cases_are_wanted_where_the_requirement_has_two(project):
    both, good, bad = Requirement("M28", "x", "test", both_cases=True), *GOOD_AND_BAD
    one_sided = Evidence((good,), (), {"good": [good], "bad": []})
    two_sided = Evidence((good, bad), (), {"good": [good], "bad": [bad]})
    assert lack(both, Record({"M28": one_sided}), Entrances(project)) == "no bad case"
    assert lack(both, Record({"M28": two_sided}), Entrances(project)) == ""


def test_a_test_that_stays_inside_proves_nothing_without_a_reason(project):
    good, bad = GOOD_AND_BAD
    write(project / "tests/test_it.py", TESTS.format(bad="True").replace("True and basanite.score", "True"))
    record = Record({"M28": Evidence((good, bad), (), {"good": [good], "bad": [bad]})})
    assert lack(Requirement("M28", "x", "test", both_cases=True), record, Entrances(project)) == "no bad case"
    assert lack(Requirement("M28", "x", "test", inside="numerics"), record, Entrances(project)) == ""
    inner = Record({"M28": Evidence((bad,), (), {"good": [], "bad": [bad]})})
    assert lack(Requirement("M28", "x", "test"), inner, Entrances(project)) == "proven only inside"


def test_what_is_proven_only_inside_is_listed_and_fails_until_it_has_a_reason(project, capsys):
    assert conformance.main(["--doors"], project) == 0
    write(project / "tests/test_it.py", TESTS.format(bad="True").replace("basanite.validate", "True"))
    assert conformance.main(["--doors"], project) == 1
    assert "M30   tests/test_it.py::TestMore::test_constant" in capsys.readouterr().out
    assert conformance.main([], project) == 0, "the full list only shows it"
    assert "M30   tests/test_it.py::TestMore::test_constant" in capsys.readouterr().out
    reason = 'line = "A constant is legal"\ninside = "nobody can see it"'
    write(project / "docs/conformance.toml", REQUIREMENTS.replace('line = "A constant is legal"', reason))
    assert conformance.main(["--doors"], project) == 0
    assert "M30   nobody can see it" in capsys.readouterr().out
    write(project / "tests/test_it.py", TESTS.format(bad="True"))
    assert conformance.main(["--doors"], project) == 1
    assert "delete the reason" in capsys.readouterr().out


def test_each_case_of_a_requirement_must_enter_by_a_door(project, capsys):
    write(project / "tests/test_it.py", TESTS.format(bad="True").replace("True and basanite.score", "True"))
    assert conformance.main(["--doors"], project) == 1
    assert "M28   tests/test_it.py::test_bad" in capsys.readouterr().out


def test_a_page_a_command_and_a_measurement_that_are_not_there_prove_nothing(project):
    page = Requirement("C02", "x", "page", anchor="docs/rulings.md#c02")
    command = Requirement("P-2", "x", "command", command="make nothing")
    measured = Requirement("F-9", "x", "benchmark", results="benchmarks/results/speed.jsonl")
    entrances = Entrances(project)
    assert lack(page, Record(), entrances) == "docs/rulings.md#c02 is missing"
    assert lack(command, Record(), entrances) == "nothing runs `make nothing`"
    assert lack(measured, Record(), entrances) == "benchmarks/results/speed.jsonl is missing"
    write(project / "benchmarks/results/speed.jsonl", "{}\n")
    assert lack(measured, Record(), entrances) == ""


def test_all_faults_of_the_file_are_named_at_once(tmp_path):
    write(
        tmp_path / "bad.toml",
        '[Q]\nline = ""\nproof = "page"\n[M01]\nline = "x"\nproof = "hope"\ncases = "one"\nextra = 1\n'
        '[M02]\nline = "x"\nproof = "benchmark"\nresults = "elsewhere.json"\n',
    )
    with pytest.raises(conformance.MalformedRequirementsError) as raised:
        load_requirements(tmp_path / "bad.toml")
    message = str(raised.value)
    for part in (
        "[Q] is not an id",
        "needs a line",
        "needs 'anchor'",
        "proof 'hope'",
        "cases = 'both'",
        "unknown keys",
        "needs results",
    ):
        assert part in message


def test_our_own_requirements_are_whole():
    families = {}
    for requirement in load_requirements(ROOT / conformance.REQUIREMENTS).values():
        families.setdefault(requirement.letter, []).append(requirement.id)
    sizes = {"H": 45, "A": 44, "M": 95, "C": 46, "F": 29, "T": 30, "R": 46, "P": 51, "S": 33, "X": 36}
    sizes |= {"D": 12, "G": 7, "L": 11, "Y": 9}
    assert {letter: len(ids) for letter, ids in families.items()} == sizes
    assert all(len(compact(ids).split()) == 1 for ids in families.values())


def test_the_tree_digest_sees_every_change_and_no_build_output(project):
    before = conformance.tree_digest(project)
    write(project / "build/anything.json", "1")
    assert conformance.tree_digest(project) == before
    write(project / "src/new.py", "")
    assert conformance.tree_digest(project) != before


def test_headings_get_the_anchors_that_readers_see():
    assert anchors('# A b\n## A b\n```\n# not this\n```\n<a id="x"></a>\n') == {"a-b", "a-b-1", "x"}
    assert slug("[Link](to.md) & `code`, 2nd") == "link--code-2nd"


def test_links_to_missing_files_and_anchors_are_found(tmp_path):
    write(
        tmp_path / "a.md",
        "# Top\n[ok](#top) [ok](b.md#c) [web](https://example.org/x) [no](c.md) [no](b.md#d) `[x](y.md)`\n",
    )
    write(tmp_path / "b.md", "## C\n")
    assert broken_links(tmp_path / "a.md") == ["c.md: no such file", "b.md#d: the page has no such anchor"]


def test_examples_know_whether_they_run():
    text = "```python\nx = 1\n```\n\n<!-- not run: it deletes -->\n\n```bash\n$ rm x\n```\n```console\n$ ls\n```\n"
    assert [(e.language, e.line, e.not_run) for e in examples(text)] == [
        ("python", 2, None),
        ("bash", 8, "it deletes"),
        ("console", 11, None),
    ]


def test_console_steps_keep_continued_lines_together():
    first, second = steps("$ echo a \\\n    b\na b\n\nmore\n$ true\n")
    assert (first.command, first.expected) == ("echo a \\\n    b", "a b\n\nmore")
    assert (second.command, second.expected) == ("true", "")
