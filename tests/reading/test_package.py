"""One command checks a whole package: every kind of mistake is found, with its file, its line and its cure."""

import json
import shutil
import unicodedata

import pytest
from tests.cli.running import here
from tests.reading.packages import NFL, TEXTS, line, small_package

from basanite.errors import SettingError, UnreadableError
from basanite.problems import Findings
from basanite.reading.package import read_package
from basanite.reading.package.checks import check_package


@pytest.fixture
def root(tmp_path):
    return small_package(tmp_path / "small")


def checked(root):
    findings = Findings()
    contents = check_package(root, findings)
    return contents, findings


def replaced(path, old, new, count=1):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")


def annotated(root, *records):
    with (root / "annotations" / "train.ndjson").open("a", encoding="utf-8") as file:
        file.writelines((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)


@pytest.mark.parametrize("package", ["small", "nfl"])
def test_a_package_in_order_has_no_problems(package, root):
    contents, findings = checked(root if package == "small" else NFL)
    assert [problem for problem in findings if problem.severity == "reject"] == []
    assert contents.documents["train"] >= 2
    assert contents.rules >= 2


def test_a_copy_without_its_sealed_part_is_in_order(root):
    shutil.rmtree(root / "corpus" / "test")
    for name in ("corpus/test.sha256", "annotations/test.ndjson"):
        (root / name).unlink()
    (root / "gold" / "v1.ndjson").write_text((root / "gold" / "v1.ndjson").read_text().splitlines()[0] + "\n")
    assert checked(root)[1].problems == []


ADDED = 11
"""The line of a record that is added at the end."""
RECORDS = {
    "unknown document": ({"document": "d9"}, "R-8", "no document 'd9'"),
    "no statement": ({"statement": "g1 type NFLGame"}, "R-8", "three texts"),
    "two terms": ({"statement": ["g1", "type"]}, "R-8", "three terms"),
    "unknown prefix": ({"statement": ["foo:g1", "type", "NFLGame"]}, "R-8", "prefix 'foo'"),
    "a variable": ({"statement": ["?g", "type", "NFLGame"]}, "R-8", "is a variable"),
    "unknown class": ({"statement": ["g9", "type", "NFLGam"]}, "R-7", "not a class"),
    "unknown property": ({"statement": ["g9", "gameDat", "2005-01-15"]}, "R-7", "not a property"),
    "wrong range": ({"statement": ["g9", "gameDate", "5"]}, "R-7", "nfl:gameDate wants"),
    "too many": ({"statement": ["g2", "numberOfPeriods", "4"]}, "R-7", "2 values"),
    "only for queries": ({"statement": ["g2", "mrq:lessThan", "4"]}, "R-7", "only in queries and rules"),
    "unknown kind": ({"kind": "sure"}, "R-8", "kind 'sure'"),
    "unknown key": ({"knid": "explicit"}, "R-8", "'knid'"),
    "no list of pieces": ({"provenance": {}}, "R-8", "not a list"),
    "no piece": ({"provenance": [5]}, "R-8", "not an object"),
    "unknown role": ({"provenance": [{"role": "x", "start": 0, "end": 1, "exact": "A"}]}, "R-8", "role 'x'"),
    "places as text": (
        {"provenance": [{"role": "object", "start": "0", "end": 1, "exact": "A"}]},
        "R-8",
        "whole number",
    ),
    "no quotation": ({"provenance": [{"role": "object", "start": 0, "end": 1}]}, "R-8", "not text"),
    "version as text": ({"version": "1"}, "R-8", "version"),
    "said twice": ({"statement": ["nfl:g2", "rdf:type", "nfl:NFLGame"], "annotator": "A1"}, "R-8", "appears twice"),
}


@pytest.mark.parametrize("case", RECORDS)
def test_a_mistake_in_the_annotations_is_told_with_its_line(case, root):
    change, rule, words = RECORDS[case]
    annotated(root, {"document": "d2", "statement": ["nfl:g9", "type", "nfl:NFLGame"], **change})
    _, findings = checked(root)
    found = [problem for problem in findings if problem.severity == "reject"]
    assert [(p.rule, p.file) for p in found] == [(rule, "annotations/train.ndjson")], found
    assert words in found[0].message
    assert found[0].line == (10 if case == "too many" else ADDED)
    assert found[0].fix


def test_offsets_that_do_not_fit_the_quotation_are_told_with_the_place_where_it_stands(root):
    record = json.loads(line("d2", "g2 hasOvertimePlay true", ("statement", "naïve")))
    start = TEXTS["train/d2"].index("naïve")
    record["provenance"][0]["start"] += 3
    record["provenance"][0]["end"] += 3
    annotated(root, record)
    (problem,) = checked(root)[1].problems
    assert (problem.rule, problem.line) == ("R-8", ADDED)
    assert problem.fix == f'write "start": {start}, "end": {start + 5}'


def test_lines_of_a_document_that_stand_apart_are_checked_together(root):
    annotated(root, {"document": "d1", "statement": ["nfl:g1", "gameWinner", "nfl:Jets"]})
    (problem,) = checked(root)[1].problems
    assert (problem.line, "2 values" in problem.message) == (3, True)
    made = dict(read_package(root, Findings()).statements("train", read_package(root, Findings()).documents("train")))
    assert {name: len(said) for name, said in made.items()} == {"d1": 9, "d2": 2}


def test_a_line_that_is_no_json_does_not_hide_the_others(root):
    annotated(root, "{", "[1]", '{"document": "d2", "document": "d2"}', "")
    _, findings = checked(root)
    assert [problem.line for problem in findings] == [ADDED, ADDED + 1, ADDED + 2]


def test_what_is_not_complete_is_a_warning(root):
    annotated(root, {"document": "d2", "statement": ["_:x", "type", "TeamSummaryScore"]})
    _, findings = checked(root)
    assert findings.valid
    assert {(problem.severity, problem.line) for problem in findings} == {("warn", ADDED)}


def test_an_odd_way_to_write_a_number_is_a_warning(root):
    annotated(root, {"document": "d2", "statement": ["nfl:g7", "numberOfPeriods", "04"]})
    _, findings = checked(root)
    assert findings.valid
    assert ["odd way" in problem.message for problem in findings] == [True]


CHANGES = {
    "a changed document": ("corpus/train/d1.txt", "Jets", "Nets", "corpus/train/d1.txt", "was changed"),
    "carriage returns": ("corpus/train/d1.txt", "\n", "\r\n", "corpus/train/d1.txt", "carriage returns"),
    "a control character": ("corpus/train/d1.txt", "Jets", "J\x07ts", "corpus/train/d1.txt", "control character"),
    "a byte-order mark": ("corpus/train/d1.txt", "The", "\ufeffThe", "corpus/train/d1.txt", "byte-order mark"),
    "a broken list of hashes": ("corpus/train.sha256", "  train/d1.txt", " d1", "corpus/train.sha256", "not a hash"),
    "a listed document that is gone": ("corpus/train.sha256", "d1.txt", "d0.txt", "corpus/train.sha256", "not there"),
    "a package of another format": ("package.toml", "package/1", "package/2", "package.toml", "format"),
    "an unknown key": ("package.toml", "title", "titel", "package.toml", "titel"),
    "no licence": ("package.toml", 'licence = "CC0-1.0"', "", "package.toml", "licence"),
    "a namespace that is none": (
        "package.toml",
        "https://nfl.example/scoring#",
        "scoring",
        "package.toml",
        "not a prefix",
    ),
    "sealed as text": ("package.toml", "sealed = true", 'sealed = "yes"', "package.toml", "neither true nor false"),
    "an unknown capability of a phase": ("package.toml", '["anaphora"]', '["anafora"]', "package.toml", "capability"),
    "a ratio that is none": (
        "package.toml",
        "target_ratio = 0.5",
        "target_ratio = nan",
        "package.toml",
        "target_ratio",
    ),
    "a phase twice": ("package.toml", 'name = "2"', 'name = "1"', "package.toml", "appears twice"),
    "half a document": ("package.toml", "documents = 100\n", "documents = 0.5\n", "package.toml", "whole number"),
    "an unknown class in the ontology": (
        "ontology.ttl",
        "rdfs:range nfl:NFLTeam",
        "rdfs:range nfl:Team",
        "ontology.ttl",
        "nfl:Team,",
    ),
    "a tag that is not known": ("ontology.ttl", '"temporal"', '"tempral"', "ontology.ttl", "tempral"),
    "a query about nothing": ("queries/queries.yaml", "NFLGame", "NFLGames", "queries/queries.yaml", "not a class"),
    "YAML anchors": ("queries/queries.yaml", "find: [", "find: &x [", "queries/queries.yaml", "anchor"),
    "gold of no query": ("gold/v1.ndjson", "periods", "period", "gold/v1.ndjson", "no query"),
    "gold of no document": ("gold/v1.ndjson", '"d2"', '"d8"', "gold/v1.ndjson", "no document"),
    "gold with another variable": ("gold/v1.ndjson", "?N", "?M", "gold/v1.ndjson", "other variables"),
    "gold of no kind": ("gold/v1.ndjson", "explicit", "certain", "gold/v1.ndjson", "kind"),
    "gold without a kind": ("gold/v1.ndjson", '"kind": "explicit", ', "", "gold/v1.ndjson", "kind is missing"),
    "gold with an odd verdict": (
        "gold/v1.ndjson",
        '"kind"',
        '"verdict": "perhaps", "kind"',
        "gold/v1.ndjson",
        "verdict",
    ),
    "gold without names": ("gold/v1.ndjson", '["the game"]', "[]", "gold/v1.ndjson", "no names"),
    "gold that nobody decided": ("gold/v1.ndjson", '"by": "panel", ', "", "gold/v1.ndjson", "does not say by"),
    "gold without a time": ("gold/v1.ndjson", '"2026-01-31"', '" "', "gold/v1.ndjson", "does not say when"),
    "gold without a reason": ("gold/v1.ndjson", ', "why": "annotated"', "", "gold/v1.ndjson", "does not say why"),
    "gold with an unknown tag": (
        "gold/v1.ndjson",
        '"kind"',
        '"capabilities": ["x"], "kind"',
        "gold/v1.ndjson",
        "capability",
    ),
    "a rule that cannot be read": ("rules/scoring.rules", "(rule ", "(rule (", "rules/scoring.rules", ""),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_mistake_elsewhere_is_told_with_its_file(case, root):
    changed, old, new, file, words = CHANGES[case]
    path = root / changed
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())
    _, findings = checked(root)
    assert not findings.valid
    assert [p for p in findings if p.file == file and words in p.message and p.fix], findings.problems


MISSING = {
    "ontology.ttl": "ontology.ttl",
    "guidelines.md": "guidelines.md",
    "queries": "queries/queries.yaml",
    "corpus/train": "corpus/train",
    "corpus/train.sha256": "corpus/train.sha256",
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_part_is_told(name, root):
    path = root / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    _, findings = checked(root)
    assert MISSING[name] in {problem.file for problem in findings}
    assert not findings.valid


def test_a_document_that_is_not_listed_is_told_and_can_be_registered(root):
    (root / "corpus" / "train" / "d5.txt").write_text("New.\n")
    (problem,) = checked(root)[1].problems
    assert (problem.file, "register" in problem.fix) == ("corpus/train/d5.txt", True)
    before = (root / "corpus" / "train.sha256").read_text()
    assert here("reading", "register", root, "--json").data["registered"]["test"] == []
    assert (root / "corpus" / "train.sha256").read_text().startswith(before)
    assert checked(root)[1].problems == []


def test_registering_never_forgives_a_changed_document(root):
    (root / "corpus" / "train" / "d1.txt").write_text("Something else.\n")
    before = (root / "corpus" / "train.sha256").read_text()
    here("reading", "register", root)
    assert (root / "corpus" / "train.sha256").read_text() == before
    assert not checked(root)[1].valid


def test_a_text_in_another_unicode_form_is_told(root):
    path = root / "corpus" / "train" / "d2.txt"
    path.write_text(unicodedata.normalize("NFD", path.read_text(encoding="utf-8")), encoding="utf-8")
    assert any("NFC" in problem.message for problem in checked(root)[1])


def test_a_link_in_a_package_is_refused(root):
    (root / "corpus" / "train" / "d9.txt").symlink_to("/etc/hostname")
    assert ("X-8", "it is a link") in {(p.rule, p.message) for p in checked(root)[1]}


FILES = (
    *("package.toml", "ontology.ttl", "queries/queries.yaml", "rules/scoring.rules", "gold/v1.ndjson"),
    *("annotations/train.ndjson", "corpus/train.sha256", "corpus/train/d1.txt", "effort.ndjson"),
)
MAY_BE_EMPTY = ("gold/v1.ndjson", "annotations/train.ndjson", "effort.ndjson", "rules/scoring.rules")
HOSTILE = {
    "nothing": b"",
    "zero bytes": b"\0" * 1000,
    "no text": b"\xff\xfe\xfd",
    "brackets": b"[" * 100_000,
    "objects": b'{"a":' * 100_000,
    "opening": b"(" * 100_000,
    "a long line": b"x" * 5_000_000,
    "half a character": b'{"document": "\\ud800", "statement": ["\\ud800", "type", "a"]}',
    "large numbers": b'{"version": ' + b"9" * 10_000 + b"}",
    "numbers that are none": b'{"minutes": NaN, "use_case": 1e999}',
    "a list of all": b"[null, true, 1, {}, []]\n" * 3,
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("payload", HOSTILE)
def test_hostile_bytes_in_any_file_are_found_and_break_nothing(file, payload, root):
    (root / file).write_bytes(HOSTILE[payload])
    _, findings = checked(root)
    assert findings.valid == (payload == "nothing" and file in MAY_BE_EMPTY)
    assert all(len(problem.message) < 2000 for problem in findings)


def test_two_documents_of_one_name_are_told(root):
    shutil.copy(root / "corpus" / "test" / "d3.txt", root / "corpus" / "train")
    assert any("name is taken" in problem.message for problem in checked(root)[1])


def test_a_folder_without_a_manifest_is_no_package(tmp_path):
    with pytest.raises(UnreadableError, match=r"package\.toml"):
        read_package(tmp_path, Findings())


def test_phases_declare_scope_ratio_sizes_and_time(root):
    manifest = read_package(root, Findings()).manifest
    phase = manifest.phase("2")
    assert phase.in_scope == {"anaphora", "temporal"}
    assert (phase.target_ratio, phase.documents, phase.preparation_days) == (0.75, 1000, 30)
    with pytest.raises(SettingError, match="no phase '3'"):
        manifest.phase("3")
    queries = {query.id: query for query in read_package(root, Findings()).queries}
    assert [queries["points"].in_scope(manifest.phase(name).in_scope) for name in ("1", "2")] == [False, True]


def test_the_command_ends_with_1_and_lists_problems(root):
    assert here("reading", "check", root).code == 0
    (root / "guidelines.md").unlink()
    ended = here("reading", "check", root)
    assert (ended.code, "guidelines.md: it is missing [R-7]" in ended.stderr) == (1, True)
    data = here("reading", "check", root, "--json").data
    assert (data["valid"], data["counts"], data["contents"]["documents"]) == (
        False,
        {"R-7": 1},
        {"test": 1, "train": 2},
    )


def test_a_command_that_does_not_exist_is_answered_with_the_nearest(root):
    ended = here("reading", "chek", root)
    assert (ended.code, "Did you mean 'check'?" in ended.stderr) == (2, True)
