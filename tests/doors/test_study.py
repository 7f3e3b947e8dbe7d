"""A whole study from one file, by `measure study`: proxies, measures, correlations, the shift, and its resumption."""

import shutil

import pytest
from scipy.stats import spearmanr
from tests.cli.running import FEATURES, here

torch = pytest.importorskip("torch")
MODELS = ("untrained", "trained")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of a small study, and what the command printed."""
    place = tmp_path_factory.mktemp("study")
    shutil.copy(FEATURES / "study-small.toml", place / "s.toml")
    ended = here("measure", "study", "s.toml", "--report", "s.html", "--report", "s.pptx", "--json", cwd=place)
    assert ended.code == 0, ended.stderr
    return place, ended


@pytest.mark.req("F-23")
def test_a_study_shows_the_contrast_between_well_and_badly_represented_sets(done):
    place, ended = done
    cells = ended.data["cells"]
    known, dots = (cells["trained"][name] for name in ("known", "dots"))
    assert known["proxies"]["probe"] > dots["proxies"]["probe"] + 0.2
    assert known["values"]["ferm1"] > dots["values"]["ferm1"] + 0.05
    assert known["values"]["ferm1"] > cells["untrained"]["known"]["values"]["ferm1"]
    for model in MODELS:
        for cell in cells[model].values():
            proxies = cell["proxies"]
            assert proxies["ratio"] == pytest.approx(proxies["probe"] / proxies["tuned"])
            assert (
                set(cell["values"]) == set(cell["mean"]) == {"ferm1", "silhouette", "davies_bouldin", "leep", "h_score"}
            )
            assert all(value >= 0 for value in cell["deviation"].values())
    page = (place / "s.html").read_text(encoding="utf-8")
    for title in (
        "Cosine measures",
        "Clustering measures",
        "Transferability measures",
        "Against the proxy: linear probe",
    ):
        assert title in page
    assert (place / "s.pptx").stat().st_size > 10_000


@pytest.mark.req("F-23")
def test_correlations_over_models_are_those_of_scipy_with_lower_is_better_turned(done):
    _, ended = done
    cells = ended.data["cells"]
    for one in ended.data["correlations"]:
        sign = -1 if one["measure"] == "davies_bouldin" else 1
        for name in ("known", "dots"):
            values = [sign * cells[model][name]["values"][one["measure"]] for model in MODELS]
            proxies = [cells[model][name]["proxies"][one["proxy"]] for model in MODELS]
            if len(set(proxies)) > 1:
                assert one["by_set"][name] == pytest.approx(spearmanr(values, proxies).statistic)
        assert one["low"] is None  # two models allow no interval


@pytest.mark.req("F-23")
def test_a_study_that_was_stopped_goes_on_and_gives_the_same(done, tmp_path):
    place, ended = done
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    result = tmp_path / "s-result"
    kept = result / "cells" / "trained--dots.json"
    before = kept.stat().st_mtime_ns
    (result / "cells" / "untrained--dots.json").unlink()
    (result / "shift.npz").unlink()
    again = here("measure", "study", "s.toml", "--json", cwd=tmp_path)
    assert again.data == ended.data
    assert kept.stat().st_mtime_ns == before
    text = (tmp_path / "s.toml").read_text(encoding="utf-8")
    (tmp_path / "s.toml").write_text(text.replace("rows = 12", "rows = 13"), encoding="utf-8")
    refused = here("measure", "study", "s.toml", cwd=tmp_path)
    assert (refused.code, "another study" in refused.stderr) == (2, True)


@pytest.mark.req("F-23")
def test_every_problem_of_a_study_is_listed_with_its_line(tmp_path):
    text = (FEATURES / "study-small.toml").read_text(encoding="utf-8")
    wrong = (
        text.replace('source = "known"', 'source = "knwn"')
        .replace('"leep"', '"lep"')
        .replace('kind = "dots"', 'kind = "folder"')
    )
    (tmp_path / "s.toml").write_text(wrong, encoding="utf-8")
    ended = here("measure", "study", "s.toml", "--json", cwd=tmp_path)
    assert ended.code == 1
    said = {(one["line"], one["message"].split(",")[0][:30]) for one in ended.data["problems"]}
    lines = text.splitlines()
    assert {line for line, _ in said} >= {1 + lines.index('source = "known"')}
    assert (
        sum(
            "lep" in one["message"] or "knwn" in one["message"] or "path" in one["message"]
            for one in ended.data["problems"]
        )
        == 3
    )
