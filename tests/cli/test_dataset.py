"""`basanite dataset`: what is built checks out, and what is wrong is told with its exit code."""

from __future__ import annotations

import pytest
from tests.cli.running import here

from basanite.synthetic.packs import BuildSpec, RawSpec, raw_documents, write_build_pack, write_raw_table

TREE = "IARPA_MATERIAL-BASE-1A"


@pytest.fixture
def table(tmp_path):
    write_raw_table(raw_documents(RawSpec(60)), tmp_path / "collected.tsv")
    return tmp_path / "collected.tsv"


def build(table, *more):
    return here("dataset", "build", table.name, "--out", "release", "--language", "1A", *more, cwd=table.parent)


@pytest.mark.req("M81", "M91")
def test_what_is_built_checks_out(table):
    built = build(table, "--dev", "6", "--analysis", "10", "--seed", "7")
    assert built.code == 0
    assert [line.split()[0] for line in built.stdout.splitlines()][3:5] == ["DEV", "EVAL1"]
    checked = here("dataset", "check", f"release/{TREE}", cwd=table.parent)
    assert (checked.code, checked.stderr) == (0, "")
    assert checked.stdout.endswith(f"{TREE} is in order.\n")
    data = here("dataset", "check", f"release/{TREE}", "--json", cwd=table.parent).data
    assert (data["valid"], sum(row["documents"] for row in data["contents"])) == (True, 60)


@pytest.mark.req("M82")
def test_each_pack_is_shown_with_what_may_be_done_with_it(table):
    build(table, "--dev", "6", "--analysis", "10")
    words = here("dataset", "check", f"release/{TREE}", cwd=table.parent).stdout
    usage = here("dataset", "check", f"release/{TREE}", "--json", cwd=table.parent).data["usage"]
    assert words.count(" may: ") == words.count(" may not: ") == len(usage)
    assert [rule["allowed"] for rule in usage["EVAL1"] if rule["name"] == "score-locally"] == [False]
    assert [rule["allowed"] for rule in usage["DEV"] if rule["name"] == "score-locally"] == [True]


def test_json_tells_what_was_built_and_one_pack_can_be_had_alone(table):
    built = build(table, "--pack", "EVAL2", "--json")
    assert [row["pack"] for row in built.data["packs"]] == ["EVAL2"]
    assert (table.parent / built.data["written"] / "EVAL2").is_dir()
    assert (table.parent / "release/secret/sources.tsv").is_file()


@pytest.mark.req("M81")
def test_a_tree_that_is_not_in_order_ends_with_one(table):
    build(table)
    next((table.parent / "release" / TREE).glob("EVAL1/text/src/*")).unlink()
    checked = here("dataset", "check", f"release/{TREE}", cwd=table.parent)
    assert (checked.code, "M81" in checked.stderr) == (1, True)
    assert checked.stdout.endswith("is not in order.\n")


@pytest.mark.req("M90")
def test_a_build_pack_is_known_by_its_name_and_counted(tmp_path):
    root = write_build_pack(BuildSpec(), tmp_path)
    checked = here("dataset", "check", root.name, cwd=tmp_path)
    assert checked.code == 0
    assert "10 pairs" in checked.stdout
    (root / "bitext" / "MATERIAL_BASE-1A-BUILD_bitext.txt").write_text("no pair\n")
    assert here("dataset", "check", root.name, cwd=tmp_path).code == 1


def test_problems_of_the_table_are_listed_and_nothing_is_written(tmp_path):
    (tmp_path / "t.tsv").write_text("source\tgenre\tdate\tlanguage\tdomains\na\tXX\t\t1A\t\n")
    ended = here("dataset", "build", "t.tsv", "--out", "release", "--language", "1A", "--json", cwd=tmp_path)
    assert (ended.code, ended.data["counts"]) == (1, {"M91": 2})
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [(["--pack", "EVAL9"], "There is no pack"), (["--dev", "100"], "cannot be taken"), (["--language", "7Q"], "7Q")],
)
def test_misuse_is_answered_with_its_cure(table, more, said):
    ended = build(table, *more)
    assert (ended.code, said in ended.stderr) == (2, True), ended.stderr


def test_nothing_is_written_over_and_a_missing_folder_is_told(table):
    build(table)
    assert "already exists" in build(table).stderr
    ended = here("dataset", "check", "none", cwd=table.parent)
    assert (ended.code, "is not a folder" in ended.stderr) == (2, True)


@pytest.mark.req("M91")
def test_relevance_is_released_where_it_belongs_and_unknown_documents_are_told(table):
    raw = raw_documents(RawSpec(60))
    pairs = table.parent / "relevance.tsv"
    pairs.write_text("query\tsource\n" + "".join(f"query1\t{one.source}\n" for one in raw))
    assert build(table, "--analysis", "10", "--relevance", pairs).code == 0
    told = sorted(path.parent.name for path in (table.parent / "release" / TREE).glob("*/query_annotation.tsv"))
    assert told == ["ANALYSIS_ANNOTATION2", "ANALYSIS_ANNOTATION3", "QUERY1"]
    pairs.write_text(f"query1\tnobody\nquery1\t{raw[0].source}\nquery1\t{raw[0].source}\n")
    ended = build(table, "--relevance", pairs, "--json")
    assert [(one["rule"], one["line"]) for one in ended.data["problems"]] == [("M91", 1), ("M91", 3)]
