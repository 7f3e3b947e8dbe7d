"""What the commands print is what the contract says, checked by other means than the commands themselves."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import tarfile
from fractions import Fraction

import pytest
from tests.cli.running import EXAMPLE, ROOT, here

from basanite import __version__

VALUE_KEYS = {"value", "low", "high", "units", "undefined", "flags", "parts"}
SCORE_KEYS = {"task", "values", "primary", "breakdowns", "settings", "signature", "digests", "notes", "format"}
COMPARE_KEYS = {"task", "systems", "differences", "groups", "rank_ranges", "family"}
DIFFERENCE_KEYS = {"metric", "first", "second", "difference", "low", "high", "p", "p_adjusted", "verdict"}
PROBLEM_KEYS = {"rule", "severity", "where", "file", "line", "field", "column", "found", "message", "fix"}
NAMES = {"aqwv", "aqwv_all", "aqwv_relevant", "adwv", "pmiss", "pfa", "mqwv", "mqwv_crossfit", "theta_best", "oracle"}
NAMES |= {"auc", "auc_pooled"}
NO_ORACLE = {"mqwv_crossfit"}
"""Its folds are drawn, so the independent program does not know it."""


def oracle():
    spec = importlib.util.spec_from_file_location("oracle_clir", ROOT / "tests/golden/oracle_clir.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def golden(name):
    return json.loads((ROOT / "tests/cli/golden" / name / "stdout.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """Alpha and Beta as cases that the independent program reads."""
    folder = tmp_path_factory.mktemp("cases")
    for system in ("Alpha", "Beta"):
        shutil.copytree(EXAMPLE / "key", folder / system / "reference")
        with tarfile.open(EXAMPLE / f"{system}.tgz") as tar:
            tar.extractall(folder / system / "submission", filter="data")
        for name in ("documents", "queries"):
            shutil.copy(EXAMPLE / "metadata" / f"{name}.tsv", folder / system / f"metadata-{name}.tsv")
    return folder


def test_golden_scores_have_the_keys_of_the_contract_and_the_values_of_an_independent_program(unpacked):
    result, program = golden("score"), oracle()
    wanted = program.plain(program.values(program.read(unpacked / "Alpha"), Fraction(20)))
    assert result.keys() == SCORE_KEYS
    assert result["values"].keys() == NAMES
    assert all(value.keys() >= VALUE_KEYS for value in result["values"].values())
    for name in NAMES - NO_ORACLE:
        assert result["values"][name]["value"] == pytest.approx(wanted[name], rel=1e-9), name


def test_golden_breakdowns_have_the_values_of_an_independent_program(unpacked):
    result, program = golden("score-breakdowns"), oracle()
    pairs = program.read(unpacked / "Beta")
    wanted = program.plain(program.breakdowns(unpacked / "Beta", pairs, Fraction(20)))
    assert result["breakdowns"].keys() == wanted.keys() == {"genre", "mode", "kind", "subtype", "domain", "words"}
    for factor, levels in result["breakdowns"].items():
        assert levels.keys() == wanted[factor].keys()
        for level, values in levels.items():
            expected = wanted[factor][level]["aqwv"]
            found = values["aqwv"]["value"]
            assert found == (None if expected is None else pytest.approx(expected, rel=1e-9)), (factor, level)


def test_golden_comparisons_have_the_keys_of_the_contract_and_true_differences(unpacked):
    result, program = golden("compare"), oracle()
    values = [program.values(program.read(unpacked / name), Fraction(20)) for name in ("Alpha", "Beta")]
    assert result.keys() >= COMPARE_KEYS
    assert result["systems"] == ["A", "Beta", "Gamma"]
    assert result["family"] == {"size": 3, "draws": 10000}
    assert all(pair.keys() >= DIFFERENCE_KEYS for pair in result["differences"])
    for pair in (pair for pair in result["differences"] if (pair["first"], pair["second"]) == ("A", "Beta")):
        wanted = float(values[0][pair["metric"]] - values[1][pair["metric"]])
        assert pair["difference"] == pytest.approx(wanted, rel=1e-9)
        assert pair["p"] <= pair["p_adjusted"] <= 1


@pytest.mark.parametrize("name", ["validate-broken", "validate-broken-lists", "score-invalid", "convert-run-problems"])
def test_golden_problems_have_the_keys_of_the_contract_and_exact_counts(name):
    result = golden(name)
    assert result.keys() - {"written"} == {"task", "valid", "problems", "counts", "listed", "total"}
    assert all(problem.keys() == PROBLEM_KEYS for problem in result["problems"])
    assert {problem["severity"] for problem in result["problems"]} <= {"reject", "warn"}
    assert (result["valid"], result["listed"]) == (False, len(result["problems"]))
    assert result["total"] == sum(result["counts"].values()) >= result["listed"]


@pytest.mark.req("P-20", "S-6")
def test_the_same_input_gives_the_same_bytes_rounded_to_ten_digits_with_sorted_keys():
    words = ("score", "clir", "--reference", "key", "--submission", "Gamma.tgz", "--json")
    first, again = here(*words), here(*words)
    assert first.stdout == again.stdout
    assert first.stdout == json.dumps(first.data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    digits = re.findall(r": -?0?\.?0*([0-9.]+)", first.stdout)
    assert max(len(number.replace(".", "")) for number in digits) <= 10


@pytest.mark.req("M80")
def test_a_result_keeps_plan_key_tool_and_beta_and_can_be_made_again(tmp_path):
    words = ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--set", "beta=33.5", "--json")
    result = here(*words).data
    assert result["settings"]["plan"] == "MATERIAL v6.0.4"
    assert result["settings"]["beta"] == 33.5
    assert result["signature"].startswith(f"basanite:{__version__}|task:clir|beta:33.5|")
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", result["digests"][name]) for name in ("reference", "submission"))
    kept = result["settings"]
    settings = [
        word for key in ("beta", "language", "folds", "interval", "level") for word in ("--set", f"{key}={kept[key]}")
    ]
    design = ["--draws", str(kept["draws"]), "--seed", str(kept["seed"])]
    assert here(*words[:6], *settings, *design, "--json").data == result


@pytest.mark.req("M80")
def test_another_key_and_another_submission_have_other_digests(tmp_path):
    shutil.copytree(EXAMPLE / "key", tmp_path / "key")
    changed = tmp_path / "key" / "query04276.tsv"
    changed.write_bytes(changed.read_bytes().replace(b"\tN", b"\tY", 1))
    digests = [
        here("score", "clir", "--reference", key, "--submission", f"{system}.tgz", "--json").data["digests"]
        for key, system in (("key", "Alpha"), ("key", "Beta"), (tmp_path / "key", "Alpha"))
    ]
    assert digests[0]["reference"] == digests[1]["reference"] != digests[2]["reference"]
    assert digests[0]["submission"] == digests[2]["submission"] != digests[1]["submission"]


@pytest.mark.req("M03", case="good")
@pytest.mark.parametrize(("language", "beta"), [("1A", 20), ("1B", 20), ("1S", 40)])
def test_the_printed_beta_of_a_language_is_used(language, beta):
    words = ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--metric", "aqwv", "--json")
    assert here(*words, "--set", f"language={language}").data["settings"]["beta"] == beta


@pytest.mark.req("M04", case="good")
def test_beta_comes_from_constants_and_both_values_are_shown():
    words = ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--metric", "aqwv", "--json")
    constants = ("--set", "cost=0.1", "--set", "value=1", "--set", f"prior={1 / 600}")
    settings = here(*words, *constants).data["settings"]
    assert settings["beta"] == settings["beta_from_constants"] == pytest.approx(59.9)
    settings = here(*words, *constants, "--set", "beta=20").data["settings"]
    assert (settings["beta"], settings["beta_from_constants"]) == (20, pytest.approx(59.9))
