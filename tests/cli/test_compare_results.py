"""Results that were written down can be laid side by side, if they were made alike or the user insists."""

from __future__ import annotations

import json

import pytest
from tests.cli.running import EXAMPLE, here

METRICS = ("--metric", "aqwv", "--metric", "theta_best", "--draws", "50", "--json")


def scored(system, *words):
    ended = here("score", "clir", "--reference", "key", "--submission", f"{system}.tgz", *METRICS, *words)
    assert ended.code == 0, ended.stderr
    return ended.data


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with results of Alpha and Beta."""
    folder = tmp_path_factory.mktemp("results")
    for system in ("Alpha", "Beta"):
        (folder / f"{system}.json").write_text(json.dumps(scored(system)))
    return folder


@pytest.fixture
def results(made, tmp_path):
    """The same, to be changed: a function writes Beta's result again."""
    for path in made.iterdir():
        (tmp_path / path.name).write_text(path.read_text())

    def change(**parts):
        beta = json.loads((tmp_path / "Beta.json").read_text())
        (tmp_path / "Beta.json").write_text(json.dumps({**beta, **parts}))
        return tmp_path

    return change


def compare(folder, *words):
    return here("compare", "--result", "Alpha.json", "--result", "Beta.json", *words, cwd=folder)


@pytest.mark.req("P-20")
def test_values_and_differences_stand_side_by_side_and_nothing_is_tested(results):
    folder = results()
    values = [json.loads((folder / f"{system}.json").read_text())["values"] for system in ("Alpha", "Beta")]
    ended = compare(folder, "--json")
    assert (ended.code, ended.data["systems"]) == (0, ["Alpha", "Beta"])
    assert [ended.data["values"][system] for system in ("Alpha", "Beta")] == values
    first = ended.data["differences"][0]
    assert first["difference"] == pytest.approx(values[0]["aqwv"]["value"] - values[1]["aqwv"]["value"])
    assert [first[key] for key in ("metric", "p", "low", "verdict")] == ["aqwv", None, None, "not tested"]
    assert any("no rows of single units" in note for note in ended.data["notes"])


def test_words_say_the_values_with_intervals_and_that_nothing_is_tested(results):
    ended = compare(results())
    assert ended.code == 0
    assert "Alpha: AQWV is 0.7088 (95% CI" in " ".join(ended.stdout.split())
    assert "No p and no interval of the differences" in " ".join(ended.stdout.split())


UNLIKE = {
    "beta": ({"signature": "{signature}|beta:40"}, "beta 20 against 40"),
    "version": ({"signature": "basanite:9|{rest}"}, "against 9"),
    "reference": ({"digests": {"reference": "sha256:00", "submission": "x"}}, "reference sha256:"),
    "task": ({"task": "other"}, "task clir against other"),
}


@pytest.mark.parametrize(("parts", "said"), UNLIKE.values(), ids=UNLIKE)
def test_results_that_were_not_made_alike_are_refused_with_what_differs_unless_forced(results, parts, said):
    signature = scored("Beta")["signature"]
    rest = signature.partition("|")[2]
    changed = {
        key: value.format(signature=signature, rest=rest) if isinstance(value, str) else value
        for key, value in parts.items()
    }
    folder = results(**changed)
    ended = compare(folder)
    assert (ended.code, ended.stdout) == (2, "")
    assert said in ended.stderr
    assert "--force" in ended.stderr
    forced = compare(folder, "--force", "--json")
    assert forced.code == 0
    assert any(said in note for note in forced.data["notes"])


REFUSED = {
    "a newer format": ({"format": "basanite-result/2"}, "written by a newer Basanite: upgrade this one"),
    "an older format": ({"format": "basanite-result/0"}, "Create it again"),
    "another kind": ({"format": "basanite-comparison/1"}, "is not a result"),
    "no format": ({"format": None}, "is not a result"),
    "no values": ({"values": []}, "is not a whole result"),
    "a value that is a text": ({"values": {"aqwv": {"value": "0.5"}}}, "is not a whole result"),
    "notes that are numbers": ({"notes": [1]}, "1 is not a text"),
    "a level that is missing": ({"settings": {}}, "'level' is missing"),
    "a number too large": ({"settings": {"level": 10**400}}, "is not a whole result"),
}


@pytest.mark.req("P-3")
@pytest.mark.parametrize(("parts", "said"), REFUSED.values(), ids=REFUSED)
def test_files_that_are_no_result_of_this_format_are_refused(results, parts, said):
    ended = compare(results(**parts))
    assert (ended.code, ended.stdout) == (2, "")
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.req("P-3")
@pytest.mark.parametrize("content", [b"", b"[]", b"[" * 100_000, b"\xff", b'{"a": NaN}', b"null"], ids=repr)
def test_what_is_not_json_is_refused(results, content):
    folder = results()
    (folder / "Beta.json").write_bytes(content)
    ended = compare(folder)
    assert (ended.code, ended.stdout, "Traceback" in ended.stderr) == (2, "", False)


MISUSE = {
    "one result": (("--result", "Alpha.json"), "at least two results"),
    "a result twice": (("--result", "Alpha.json", "--result", "Alpha.json"), "Two systems are called 'Alpha'"),
    "with a task": (("clir", "--result", "Alpha.json", "--result", "Beta.json"), "goes without these: task"),
    "with draws": (("--draws", "5", "--result", "Alpha.json", "--result", "Beta.json"), "goes without these: draws"),
    "force alone": (("clir", "--force"), "--force goes with --result only"),
    "an unknown metric": (("--result", "Alpha.json", "--result", "Beta.json", "--metric", "aqv"), "mean 'aqwv'"),
    "a folder": (("--result", "Alpha.json", "--result", str(EXAMPLE)), "cannot be read"),
    "no file": (("--result", "Alpha.json", "--result", "no.json"), "no.json cannot be read"),
}


@pytest.mark.req("P-3")
@pytest.mark.parametrize(("words", "said"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_told(results, words, said):
    ended = here("compare", *words, cwd=results())
    assert (ended.code, ended.stdout) == (2, "")
    assert said in " ".join(ended.stderr.split())


def test_infinite_and_undefined_values_have_no_difference(results):
    beta = scored("Beta")["values"]
    beta["theta_best"] = {**beta["theta_best"], "value": None, "infinite": "+"}
    beta["aqwv"] = {**beta["aqwv"], "value": None, "low": None, "high": None, "note": "undefined"}
    ended = compare(results(values=beta), "--json")
    assert ended.code == 0
    assert {pair["metric"]: pair["difference"] for pair in ended.data["differences"]} == {
        "aqwv": None,
        "theta_best": None,
    }
    assert ended.data["values"]["Beta"]["theta_best"]["infinite"] == "+"


@pytest.mark.parametrize("suffix", ["html", "csv", "json", "txt"])
def test_a_report_can_be_written(results, suffix):
    folder = results()
    assert compare(folder, "--report", f"out.{suffix}").code == 0
    assert "Alpha" in (folder / f"out.{suffix}").read_text()


def test_results_have_the_names_that_users_give(results):
    ended = here("compare", "--result", "Old=Alpha.json", "--result", "New=Beta.json", "--json", cwd=results())
    assert ended.data["systems"] == ["Old", "New"]


@pytest.mark.req("T-10")
def test_only_what_differs_in_the_signatures_of_values_is_told(results):
    beta = scored("Beta")["values"]
    for name in beta:
        beta[name] = {**beta[name], "signature": "BLEU; tokeniser: none"}
    folder = results(values=beta)
    alpha = json.loads((folder / "Alpha.json").read_text())
    alpha["values"] = {name: {**value, "signature": "BLEU; tokeniser: 13a"} for name, value in alpha["values"].items()}
    (folder / "Alpha.json").write_text(json.dumps(alpha))
    ended = compare(folder)
    assert ended.code == 2
    assert ended.stderr.count("tokeniser: 13a against tokeniser: none") == 1
    assert "BLEU" not in ended.stderr
