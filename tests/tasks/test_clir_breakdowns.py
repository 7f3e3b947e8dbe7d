"""CLIR by genre, mode and kind of query: each level has its own denominators, and whole queries are drawn."""

import numpy as np
import pytest
from tests.metrics.detections import exactly
from tests.tasks.folders import documents, queries, run

import basanite
from basanite.errors import InvalidInputError

FORMS = ("aqwv", "aqwv_all", "aqwv_relevant", "pmiss", "pfa")


def drawn(seed=1, count=20, of=24):
    rng = np.random.default_rng(seed)
    relevant = rng.random((count, of)) < 0.25
    relevant[:3] = False
    return relevant, rng.random((count, of)) < 0.3, rng.integers(0, 100_001, (count, of))


def table(path, subject, factors, names):
    lines = ["\t".join([subject, *factors])]
    lines += ["\t".join([name, *(levels[at] for levels in factors.values())]) for at, name in enumerate(names)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def scored(tmp_path, case, *, by_document=None, by_query=None, **more):
    metadata = []
    if by_document:
        metadata.append(table(tmp_path / "documents.tsv", "document", by_document, documents(case[0].shape[1])))
    if by_query:
        metadata.append(table(tmp_path / "queries.tsv", "query", by_query, queries(len(case[0]))))
    return basanite.score("clir", **run(tmp_path, *case), metadata=metadata, **{"folds": 2, "draws": 200, **more})


def level_names(levels, count):
    return [levels[at % len(levels)] for at in range(count)]


@pytest.mark.req("M73", "S-9")
def test_a_factor_of_documents_gives_each_level_its_own_denominators(tmp_path):
    case = drawn()
    genres = np.array(level_names(["NT", "TB", "CS"], 24))
    result = scored(tmp_path, case, by_document={"genre": genres, "mode": level_names(["text", "speech"], 24)})
    assert set(result.breakdowns) == {"genre", "mode"}
    assert list(result.breakdowns["genre"]) == ["CS", "NT", "TB"]
    for level, values in result.breakdowns["genre"].items():
        part = tuple(array[:, genres == level] for array in case)
        wanted = exactly(*part)
        assert {name: values[name].value for name in FORMS} == pytest.approx({name: wanted[name] for name in FORMS})
        assert values["aqwv"].units == 20
        assert values["aqwv"].parts == {"relevant_units": part[0].any(axis=1).sum()}


@pytest.mark.req("M73")
def test_a_factor_of_queries_gives_the_values_of_the_queries_of_each_level(tmp_path):
    case = drawn()
    kinds = np.array(level_names(["lexical", "conceptual", "lexical"], 20))
    result = scored(tmp_path, case, by_query={"kind": kinds, "words": level_names(["1", "2"], 20)})
    for level, values in result.breakdowns["kind"].items():
        wanted = exactly(*(array[kinds == level] for array in case))
        names = [*FORMS, "auc"]
        assert {name: values[name].value for name in names} == pytest.approx({name: wanted[name] for name in names})
        assert values["aqwv"].units == (kinds == level).sum()
    assert {level: values["pfa"].units for level, values in result.breakdowns["words"].items()} == {"1": 10, "2": 10}


@pytest.mark.req("M73", "M10")
def test_a_factor_of_documents_divides_the_document_weighted_value_by_documents(tmp_path):
    case = drawn()
    genres = np.array(level_names(["NT", "TB"], 24))
    result = scored(tmp_path, case, by_document={"genre": genres})
    for level, values in result.breakdowns["genre"].items():
        wanted = exactly(*(array[:, genres == level] for array in case))
        assert values["adwv"].value == pytest.approx(wanted["adwv"])
        assert values["adwv"].units == 12


@pytest.mark.req("S-9")
def test_a_level_that_holds_every_document_has_the_interval_of_the_whole(tmp_path):
    case = drawn()
    result = scored(tmp_path, case, by_document={"genre": ["NT"] * 24})
    for name in FORMS:
        whole, level = result.values[name], result.breakdowns["genre"]["NT"][name]
        assert whole.low is not None
        assert (level.value, level.low, level.high) == (whole.value, whole.low, whole.high)


@pytest.mark.req("S-9")
def test_a_query_is_drawn_as_a_whole_so_that_levels_move_together(tmp_path):
    relevant, returned, score = drawn(of=12)
    twice = tuple(np.hstack([array, array]) for array in (relevant, returned, score))
    result = scored(tmp_path, twice, by_document={"half": ["a"] * 12 + ["b"] * 12})
    a, b = (result.breakdowns["half"][level]["aqwv"] for level in "ab")
    assert a == b, "equal documents of the same queries must be drawn alike"
    assert (a.low, a.high) == (result.values["aqwv"].low, result.values["aqwv"].high)


@pytest.mark.req("M73", "S-9")
def test_what_the_table_does_not_tell_is_in_no_level_and_is_counted(tmp_path):
    case = drawn()
    kinds, genres = level_names(["lexical", ""], 20), level_names(["NT", "", "TB"], 24)
    result = scored(tmp_path, case, by_query={"kind": kinds}, by_document={"genre": genres})
    assert list(result.breakdowns["kind"]) == ["lexical"]
    assert list(result.breakdowns["genre"]) == ["NT", "TB"]
    assert "kind: not known for 10 of 20 units (query), left out there" in result.notes
    assert "genre: not known for 8 of 24 units (document), left out there" in result.notes


@pytest.mark.req("M73")
def test_names_in_a_table_that_the_key_lacks_do_no_harm(tmp_path):
    case = drawn()
    path = tmp_path / "extra.tsv"
    names = [*documents(24), "MATERIAL_BASE-1A_99999999"]
    table(path, "document", {"genre": ["NT"] * 24 + ["CS"]}, names)
    result = basanite.score("clir", **run(tmp_path, *case), metadata=[path], draws=20, folds=2)
    assert list(result.breakdowns["genre"]) == ["NT"]


@pytest.mark.req("M73")
@pytest.mark.parametrize(
    "text",
    ["", "name\tgenre\nx\ty\n", "document\tgenre\nd1\n", "document\tgenre\nd1\ta\nd1\tb\n", "document\t\nd\tx\n"],
)
def test_a_malformed_table_stops_the_run_as_a_problem_of_the_metadata(tmp_path, text):
    inputs = run(tmp_path, *drawn())
    (tmp_path / "factors.tsv").write_text(text)
    with pytest.raises(InvalidInputError) as raised:
        basanite.score("clir", **inputs, metadata=[tmp_path / "factors.tsv"])
    assert {(p.rule, p.where, p.file) for p in raised.value.findings} == {("M73", "metadata", "factors.tsv")}
    assert not basanite.validate("clir", **inputs, metadata=[tmp_path / "factors.tsv"]).valid
