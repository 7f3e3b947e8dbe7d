"""The pack builder: epochs follow dates, conversations chance, names tell nothing, and all of it follows the seed."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from basanite.errors import SettingError
from basanite.formats.datasets.dataset_tree import read_tree
from basanite.formats.datasets.raw_documents import RawDocument, read_raw_documents
from basanite.formats.factors import read_factors
from basanite.problems import Findings
from basanite.synthetic.packs import (
    PackSpec,
    RawSpec,
    build_packs,
    raw_documents,
    write_raw_table,
    write_secrets,
    write_tree,
)

RAW = raw_documents(RawSpec(400, seed=3))
SPEC = PackSpec("1A", dev=50, analysis=50, seed=5)
PACKS = build_packs(RAW, SPEC)
EVALS = ("EVAL1", "EVAL2", "EVAL3")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_document_is_in_one_pack_and_packs_have_the_sizes_asked_for():
    assert sorted(one.raw.source for one in PACKS.placed) == sorted(one.source for one in RAW)
    assert PACKS.names == ("ANALYSIS1", "ANALYSIS2", "ANALYSIS3", "DEV", *EVALS)
    assert len(PACKS.of("DEV")) == 50
    assert [len(PACKS.of(f"ANALYSIS{number}")) for number in (1, 2, 3)] == [20, 20, 10]


def test_epochs_follow_the_date_of_origin_within_each_genre():
    spans = PACKS.epochs()
    assert set(spans) == {"NT", "TT", "BT", "NB", "TB"}
    for packs in spans.values():
        (_, last1), (first2, last2), (first3, _) = (packs[name] for name in EVALS)
        assert last1 < first2 <= last2 < first3
    sizes = [len(PACKS.of(name)) for name in EVALS]
    assert max(sizes) - min(sizes) <= 6


def test_documents_of_one_moment_stay_in_one_epoch():
    day = datetime(2016, 5, 1)
    same = [RawDocument(f"s{number}", "NT", day, "1A") for number in range(9)]
    packs = build_packs(same, PackSpec("1A", dev=0, analysis=0))
    assert len({one.pack for one in packs.placed}) == 1


def test_conversations_are_dealt_by_the_seed_and_by_nothing_else():
    talks = [RawDocument(f"talk{number:02d}", "CS", None, "1A") for number in range(30)]

    def dealt(seed: int) -> list[str]:
        packs = build_packs(talks, PackSpec("1A", dev=0, analysis=0, seed=seed))
        return [one.pack for one in sorted(packs.placed, key=lambda one: one.raw.source)]

    assert dealt(1) == dealt(1) != dealt(2)
    assert Counter(dealt(1)) == dict.fromkeys(EVALS, 10)
    assert dealt(1) != sorted(dealt(1))


def test_names_are_eight_digits_that_tell_nothing():
    names = [one.name for one in PACKS.placed]
    assert len(set(names)) == len(names) == 400
    assert all(name.startswith("MATERIAL_BASE-1A_") and len(name) == 25 for name in names)
    order = [one.name for one in sorted(PACKS.placed, key=lambda one: one.raw.source)]
    rises = sum(first < second for first, second in itertools.pairwise(order))
    assert 140 < rises < 260  # about half: the order of sources does not show
    for pack in EVALS:
        middle = sorted(names)[200]
        assert 0.3 < sum(one.name < middle for one in PACKS.of(pack)) / len(PACKS.of(pack)) < 0.7


def test_distractors_are_evaluated_on_only_and_told_to_organisers_only(tmp_path):
    foreign = [one for one in PACKS.placed if one.raw.language != "1A"]
    assert foreign
    assert {one.pack for one in foreign} <= set(EVALS)
    factors, _ = write_secrets(PACKS, tmp_path / "secret")
    table = read_factors(factors, Findings())
    assert set(table.levels["language"].values()) == {"1A", "swc", "lin"}
    assert set(table.levels) == {"genre", "mode", "pack", "language"}
    root = write_tree(PACKS, tmp_path)
    assert not [name for name, data in contents(root).items() if b"swc" in data or b"collected" in data]


def test_domains_are_level_in_dev_and_announced_in_analysis():
    counts = PACKS.balance("DEV")
    assert set(counts) == {"GOV", "LIF", "BUS", "LAW", "SPO"}
    assert max(counts.values()) - min(counts.values()) <= 4
    for pack, stage in (("ANALYSIS1", ("GOV", "LIF")), ("ANALYSIS2", ("BUS", "LAW")), ("ANALYSIS3", ("SPO",))):
        assert min(PACKS.balance(pack)[code] for code in stage) >= 5
    irrelevant = [sum(not one.raw.domains for one in PACKS.of(*names)) / 50 for names in (("DEV",), PACKS.names[:3])]
    assert irrelevant[0] < irrelevant[1]


def test_packs_grow_within_their_family():
    assert [PACKS.cumulative(name) for name in EVALS] == [EVALS[:1], EVALS[:2], EVALS]
    assert PACKS.cumulative("DEV") == ("DEV",)
    first, second = PACKS.of(*PACKS.cumulative("EVAL1")), PACKS.of(*PACKS.cumulative("EVAL2"))
    assert set(first) < set(second)


def test_the_same_documents_and_seed_give_the_same_packs_in_whatever_order_they_come(tmp_path):
    turned = list(RAW)
    random.Random(1).shuffle(turned)
    assert build_packs(turned, SPEC) == PACKS
    assert build_packs(RAW, PackSpec("1A", dev=50, analysis=50, seed=6)) != PACKS
    small = build_packs(RAW[:40], PackSpec("1A", dev=5, analysis=5))
    first, second = (write_tree(small, tmp_path / name) for name in ("a", "b"))
    assert contents(first) == contents(second)


@pytest.mark.parametrize("joint", ["-", "_"])
def test_a_tree_that_was_generated_is_read_without_a_problem(tmp_path, joint):
    small = build_packs(RAW[:60], PackSpec("1A", dev=6, analysis=10))
    findings = Findings()
    data = read_tree(write_tree(small, tmp_path, joint=joint), findings)
    assert findings.problems == []
    assert [(one.name, one.pack, one.genre) for one in data.documents] == [
        (one.name, one.pack, one.raw.genre) for one in small.placed
    ]


def test_relevance_of_the_first_analysis_pack_comes_with_the_first_queries(tmp_path):
    relevance = [("query1", one.raw.source) for one in PACKS.placed]
    root = write_tree(PACKS, tmp_path, relevance=relevance)
    told = {path.relative_to(root).as_posix(): path.read_text() for path in root.glob("*/*_annotation.tsv")}
    assert sorted(told) == [
        "ANALYSIS_ANNOTATION1/domain_annotation.tsv",
        "ANALYSIS_ANNOTATION2/domain_annotation.tsv",
        "ANALYSIS_ANNOTATION2/query_annotation.tsv",
        "ANALYSIS_ANNOTATION3/domain_annotation.tsv",
        "ANALYSIS_ANNOTATION3/query_annotation.tsv",
        "QUERY1/query_annotation.tsv",
    ]
    names = {one.name for one in PACKS.of("ANALYSIS1")}
    pairs = [line.split("\t") for line in told["QUERY1/query_annotation.tsv"].splitlines()[1:]]
    assert {document for _, document in pairs} == names


def test_one_pack_can_be_written_alone_and_nothing_is_written_over(tmp_path):
    root = write_tree(PACKS, tmp_path, names=["EVAL1"])
    findings = Findings()
    assert read_tree(root, findings).packs == ("EVAL1",)
    assert findings.problems == []
    assert "must not: " in (root / "README.TXT").read_text()
    with pytest.raises(SettingError, match="already exists"):
        write_tree(PACKS, tmp_path)


def test_documents_that_exist_are_copied(tmp_path):
    (tmp_path / "one.txt").write_text("Real words.\n")
    raw = [RawDocument("s1", "NT", datetime(2016, 1, 1), "1A", file=tmp_path / "one.txt")]
    root = write_tree(build_packs(raw, PackSpec("1A", dev=0, analysis=0, epochs=1)), tmp_path)
    (copy,) = (root / "EVAL1/text/src").iterdir()
    assert copy.read_text() == "Real words.\n"


def test_a_language_nobody_knows_has_one_stage_with_all_its_domains():
    raw = [RawDocument(f"s{n}", "NT", datetime(2016, 1, n + 1), "9Z", ("ABC",)) for n in range(20)]
    packs = build_packs(raw, PackSpec("9Z", dev=4, analysis=4))
    assert packs.names == ("ANALYSIS1", "DEV", *EVALS)


@pytest.mark.parametrize(
    "spec",
    [
        PackSpec("7Q", 1, 1),
        PackSpec("1A", 300, 300),
        PackSpec("1A", 1, 1, epochs=0),
        PackSpec("1A", 1, 1, epochs=4),
        PackSpec("swa", 1, 1),
    ],
)
def test_sizes_that_cannot_be_had_are_refused(spec):
    with pytest.raises(SettingError):
        build_packs(RAW, spec)


def test_a_table_reads_back(tmp_path):
    write_raw_table(RAW[:50], tmp_path / "collected.tsv")
    findings = Findings()
    assert read_raw_documents(tmp_path / "collected.tsv", findings) == RAW[:50]
    assert findings.problems == []


@pytest.mark.parametrize(
    ("line", "field", "found"),
    [
        ("s1\tNT\t2016-01-01\t1A\tGOV\t", 1, "s1"),
        ("s2\tXX\t2016-01-01\t1A\t\t", 2, "XX"),
        ("s2\tNT\t\t1A\t\t", 3, ""),
        ("s2\tNT\tMay 2016\t1A\t\t", 3, "May 2016"),
        ("s2\tNT\t2016-01-01\t?\t\t", 4, "?"),
        ("s2\tNT\t2016-01-01\t1A\tGOV life\t", 5, "life"),
        ("s2\tNT\t2016-01-01\t1A\t\tnone.txt", 6, "none.txt"),
        ("s2\tNB\t2016-01-01\t1A\t\tsome.txt", 6, "some.txt"),
    ],
)
def test_each_fault_of_a_table_is_found_in_its_line_and_field(tmp_path, line, field, found):
    (tmp_path / "some.txt").write_text("x")
    table = tmp_path / "t.tsv"
    header = "source\tgenre\tdate\tlanguage\tdomains\tfile"
    table.write_text(f"{header}\ns1\tCS\t\t1A\t\t\n{line}\n")
    findings = Findings()
    assert len(read_raw_documents(table, findings)) == 1
    assert [(one.rule, one.line, one.field, one.found) for one in findings] == [("M91", 3, field, found)]


def test_a_table_without_its_columns_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("source,genre\ns1,NT\n")
    findings = Findings()
    assert read_raw_documents(tmp_path / "t.csv", findings) == []
    assert findings.problems[0].message == "there is no column date and language and domains"


def test_the_published_sizes_come_out_of_a_collection_of_that_size():
    packs = build_packs(raw_documents(RawSpec(16_300)), PackSpec("1A", dev=650, analysis=650))
    assert [len(packs.of(name)) for name in packs.names] == [260, 260, 130, 650, 5000, 5000, 5000]
