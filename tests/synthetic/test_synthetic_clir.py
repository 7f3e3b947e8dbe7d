"""The generator: the same bytes twice, one threshold, and values that an independent program confirms."""

from __future__ import annotations

import gzip
import importlib.util
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.synthetic import clir_example

from basanite.errors import SettingError
from basanite.synthetic import clir

ROOT = Path(__file__).parents[2]
ALPHA = clir.Quality("Alpha", 8.0)
SMALL = clir.Spec(queries=5, documents=300, seed=7)


def oracle() -> ModuleType:
    spec = importlib.util.spec_from_file_location("oracle_clir", ROOT / "tests" / "golden" / "oracle_clir.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder; archives by the bytes inside, for compressors differ."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    opened = {".tgz": gzip.decompress}
    return {path.relative_to(folder).as_posix(): opened.get(path.suffix, bytes)(path.read_bytes()) for path in paths}


def written(spec: clir.Spec, folder: Path) -> Path:
    clir.write_key(spec, folder / "reference")
    clir.write_system(spec, ALPHA, folder / "submission")
    return folder


def rows(data: bytes) -> list[list[str]]:
    return [line.split("\t") for line in data.decode().splitlines()]


def test_the_same_spec_gives_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        clir.catalogue.cache_clear()
        written(SMALL, tmp_path / name)
        clir.write_system(SMALL, ALPHA, tmp_path / name / "Alpha.tgz")
        clir.write_metadata(SMALL, tmp_path / name)
        clir.write_lists(SMALL, tmp_path / name)
    first, second = tmp_path / "first", tmp_path / "second"
    assert contents(first) == contents(second)
    assert (first / "Alpha.tgz").read_bytes() == (second / "Alpha.tgz").read_bytes()


def test_another_seed_gives_other_names():
    other = clir.Spec(queries=5, documents=300, seed=8)
    assert not set(clir.catalogue(SMALL).documents) & set(clir.catalogue(other).documents)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("empty", [0.0, 0.4, 1.0])
def test_the_exact_values_are_the_oracles(tmp_path, seed, empty):
    spec = clir.Spec(queries=8, documents=40, seed=seed, empty=min(empty, 0.999))
    judge = oracle()
    found = judge.values(judge.read(written(spec, tmp_path)), Fraction(20))
    for name, value in clir.exact_value(spec, ALPHA, beta=20).items():
        assert value == (None if found[name] is None else pytest.approx(float(found[name]), abs=1e-15)), name


def test_one_threshold_explains_all_decisions():
    cut = clir.threshold(ALPHA) / clir.ONE
    for _, data in clir.system_members(SMALL, ALPHA):
        assert all((mark == "Y") == (float(score) >= cut) for _, mark, score in rows(data))


def test_every_file_has_a_line_for_every_document_in_its_own_order():
    names = clir.catalogue(SMALL).documents
    orders = set()
    for (_, key), (_, answers) in zip(clir.key_members(SMALL), clir.system_members(SMALL, ALPHA), strict=True):
        for data in (key, answers):
            order = tuple(row[0] for row in rows(data))
            assert sorted(order) == sorted(names)
            orders.add(order)
    assert len(orders) == 2 * SMALL.queries


def test_the_order_of_documents_can_be_fixed():
    spec = clir.Spec(queries=3, documents=20, seed=1, order="fixed")
    orders = {tuple(row[0] for row in rows(data)) for _, data in clir.key_members(spec)}
    assert orders == {clir.catalogue(spec).documents}


def test_scores_are_written_with_one_to_five_decimals():
    decimals = Counter(len(row[2]) - 2 for _, data in clir.system_members(SMALL, ALPHA) for row in rows(data))
    assert set(decimals) == {1, 2, 3, 4, 5}


def test_shares_are_near_what_is_declared():
    spec = clir.Spec(queries=1000, documents=20_000, seed=3)
    names = clir.catalogue(spec)
    genres = Counter(names.genres)
    assert all(abs(genres[genre] / spec.documents - share) < 0.02 for genre, share in clir.GENRES.items())
    assert abs(names.relevant.count(0) / spec.queries - spec.empty) < 0.03
    assert abs(float(np.mean(names.relevant)) / spec.documents - clir.PRIOR) < 0.0003


def test_relevance_follows_the_counts_and_speech_is_harder():
    spec = clir.Spec(queries=60, documents=2000, seed=5, prevalence=0.05)
    names, found = clir.catalogue(spec), {True: [0, 0], False: [0, 0]}
    for query in range(spec.queries):
        flags = clir.relevance(spec, query)
        assert int(flags.sum()) == names.relevant[query]
        hits = clir.scores(spec, ALPHA, query)[0] >= clir.threshold(ALPHA)
        for speech in found:
            part = flags & (names.speech == speech)
            found[speech][0] += int((part & hits).sum())
            found[speech][1] += int(part.sum())
    assert found[True][0] / found[True][1] < found[False][0] / found[False][1] - 0.1


def test_better_systems_are_better_and_wrong_thresholds_cost():
    spec = clir.Spec(queries=40, documents=1000, seed=2)
    best, weak, loose, strict = (
        clir.exact_value(spec, clir.Quality("S", separation, bias))["aqwv"]
        for separation, bias in [(9.0, 0.0), (6.0, 0.0), (9.0, -2.0), (9.0, 4.0)]
    )
    assert best is not None
    assert best > max(value for value in (weak, loose, strict) if value is not None)


def test_more_names_than_there_can_be_are_refused():
    with pytest.raises(SettingError, match="different names"):
        clir.distinct(np.random.default_rng(0), 11, 10)
    assert sorted(clir.distinct(np.random.default_rng(0), 10, 10)) == list(range(10))


def test_the_shipped_example_is_what_the_generator_makes(tmp_path):
    clir_example.write_example(tmp_path)
    shipped = contents(ROOT / "examples" / "clir")
    shipped.pop("README.md")
    assert contents(tmp_path) == shipped


def test_the_examples_readme_names_every_mistake(tmp_path):
    text = (ROOT / "examples" / "clir" / "README.md").read_text(encoding="utf-8")
    for file, words in clir_example.write_broken(tmp_path / "broken"):
        assert f"| `{file}` | {words} |" in text


def test_the_example_is_small():
    assert sum(path.stat().st_size for path in (ROOT / "examples" / "clir").rglob("*") if path.is_file()) < 300_000
