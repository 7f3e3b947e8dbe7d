"""`basanite score reading` by command: what was asked, things that no text names, and answers in other shapes."""

from __future__ import annotations

import json
import re
import shutil
from datetime import date

import pytest
from tests.cli.running import READING, ROOT, here

from basanite.formats.texts.normalisers import in_words
from basanite.problems import Findings
from basanite.reading.gold.answers import plain_name
from basanite.reading.package import read_package

NFL = READING / "nfl"
PACKAGES = sorted(path.parent for path in (ROOT / "examples").rglob("package.toml"))


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
    return path


def scored(package, answers, *sets):
    words = [word for one in sets for word in ("--set", one)]
    return here("score", "reading", "--reference", package, "--submission", answers, "--draws", "100", "--json", *words)


def values(ended):
    assert ended.code == 0, ended.stderr + ended.stdout
    return {name: value["value"] for name, value in json.loads(ended.stdout)["values"].items()}


def gold_of(package, version="v2"):
    return [one for one in rows(package / "gold" / f"{version}.ndjson") if one.get("verdict", "correct") == "correct"]


def as_answers(gold):
    return [{name: one[name] for name in ("query", "document", "answer", "kind")} for one in gold]


# What was asked


@pytest.mark.req("R-30")
@pytest.mark.parametrize(
    ("sets", "asked"),
    [
        (["queries=overtime,winners"], lambda one: one["query"] in ("overtime", "winners")),
        (["types=class"], lambda one: one["query"] == "games"),
        (["documents=nfl-101,nfl-110"], lambda one: one["document"] in ("nfl-101", "nfl-110")),
        (["kinds=inferred"], lambda one: one["kind"] == "inferred"),
        (["queries=losers", "documents=nfl-102,nfl-104,nfl-105", "kinds=inferred"],
         lambda one: one["query"] == "losers" and one["document"] in ("nfl-102", "nfl-104", "nfl-105")
         and one["kind"] == "inferred"),
    ],
    ids=["queries", "types", "documents", "kinds", "all of them"],
)  # fmt: skip
def test_the_gold_of_what_was_asked_has_a_score_of_1(tmp_path, sets, asked):
    mine = [one for one in gold_of(NFL) if asked(one)]
    assert 0 < len(mine) < len(gold_of(NFL))
    found = values(scored(NFL, written(tmp_path / "mine.ndjson", as_answers(mine)), *sets))
    assert (found["f"], found["precision"], found["recall"]) == (1, 1, 1)
    everything = scored(NFL, written(tmp_path / "all.ndjson", as_answers(gold_of(NFL))), *sets)
    assert values(everything)["f"] == 1, "what was not asked is neither right nor wrong"


@pytest.mark.req("R-30")
def test_a_missing_answer_costs_only_among_what_was_asked(tmp_path):
    mine = [one for one in gold_of(NFL) if one["query"] == "winners"]
    found = values(scored(NFL, written(tmp_path / "mine.ndjson", as_answers(mine[1:])), "queries=winners"))
    assert found["recall"] == pytest.approx((len(mine) - 1) / len(mine))


@pytest.mark.req("R-30", case="bad")
@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (["part=train"], ["covers nothing", "'train'", "v2", "Choose another part"]),
        (["queries=losers", "documents=nfl-101"], ["covers nothing"]),
        (["queries=winner"], ["no query 'winner'", "winners"]),
        (["documents=nfl-999"], ["no document 'nfl-999'"]),
        (["types=propety"], ["no type 'propety'", "property"]),
        (["kinds=stated"], ["explicit, inferred"]),
    ],
    ids=["a part without gold", "nothing of both", "query", "document", "type", "kind"],
)
def test_what_the_gold_does_not_cover_is_refused_and_never_scored_0(sets, words):
    ended = scored(NFL, NFL / "answers" / "train.ndjson", *sets)
    assert ended.code == 2
    assert '"f"' not in ended.stdout
    assert [word for word in words if word not in ended.stderr + ended.stdout] == []


# Things without a name


class WordReader:
    """A perfect reader that knows nothing but the words of the texts: neither ids nor names from elsewhere."""

    def __init__(self, package, gold):
        self.texts = {
            name: plain_name(document.text)
            for part in package.manifest.parts
            for name, document in package.documents(part.name).items()
        }
        self.numbers = {}
        self.gold = gold

    def answers(self):
        for one in reversed(self.gold):
            told = {name: self.told(one["document"], bound) for name, bound in one["answer"].items()}
            yield {"query": one["query"], "document": one["document"], "answer": told, "kind": one["kind"]}

    def told(self, document, bound):
        if not isinstance(bound, list):
            return self.value(str(bound))
        own = [name for name in bound if name.startswith("_:")]
        if own:
            # The numbers of another document: if ids decided anything, they would lead astray.
            return [f"_:game-{self.numbers.setdefault((document, own[0]), len(self.numbers)) + 101:03}"]
        words = [name for name in bound if plain_name(name) in self.texts[document]]
        assert words, f"{document} says none of {bound}"
        return [f"“{words[0].upper()}”,"]

    def value(self, text):
        if re.fullmatch("[0-9]{1,9}", text):
            return in_words(text)
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            day = date.fromisoformat(text)
            return f"{day:%B} {day.day}, {day.year}"
        return text


@pytest.mark.req("R-31")
@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_reader_of_words_alone_reaches_1_on_every_package_that_is_shipped(tmp_path, package):
    assert {"nfl", "protests", "business", "lives", "maintenance"} <= {path.name for path in PACKAGES}
    copy = shutil.copytree(package, tmp_path / package.name)
    read = read_package(copy, Findings())
    for part in (part.name for part in read.manifest.parts):
        if part == "train" or not (package / "gold").is_dir():
            shutil.rmtree(copy / "gold", ignore_errors=True)
            assert here("reading", "gold", copy, "--part", part).code == 0
        gold = gold_of(copy, max(path.stem for path in (copy / "gold").glob("*.ndjson")))
        gold = [one for one in gold if one["document"] in read.documents(part)]
        answers = written(tmp_path / "words.ndjson", WordReader(read, gold).answers())
        found = values(scored(copy, answers, f"part={part}"))
        assert (found["f"], found["exact_f"]) == (1, 1), part
        shutil.rmtree(copy / "gold")
        if (package / "gold").is_dir():
            shutil.copytree(package / "gold", copy / "gold")


@pytest.mark.req("R-31")
def test_the_ids_of_the_gold_decide_nothing(tmp_path):
    gold = [one for one in gold_of(NFL) if one["document"] == "nfl-110"]
    games = {one["answer"]["?G"][0] for one in gold}
    assert len(games) == 2, "a report of two games"
    swap = dict(zip(sorted(games), sorted(games, reverse=True), strict=True))
    answers = as_answers(gold)
    for one in answers:
        one["answer"] = {**one["answer"], "?G": [swap[one["answer"]["?G"][0]]]}
    found = values(scored(NFL, written(tmp_path / "swapped.ndjson", answers), "documents=nfl-110"))
    assert found["f"] == 1
    teams = [one for one in answers if one["query"] == "teams"]
    for one in answers:
        if "?T" in one["answer"]:
            one["answer"] = {**one["answer"], "?T": ["nobody"]}
    assert teams
    wrong = values(scored(NFL, written(tmp_path / "ids.ndjson", answers), "documents=nfl-110", "queries=games,teams"))
    assert wrong["f"] == 0, "ids that the gold has, and nothing right about them"


@pytest.mark.req("R-31", case="bad")
def test_naming_no_thing_and_naming_many_earn_nothing(tmp_path):
    unnamed = as_answers(gold_of(NFL))
    for one in unnamed:
        one["answer"] = {name: [f"_:x{at}"] if isinstance(bound, list) else bound
                         for at, (name, bound) in enumerate(one["answer"].items())}  # fmt: skip
    found = values(scored(NFL, written(tmp_path / "unnamed.ndjson", unnamed), "queries=teams,winners,losers"))
    assert found["f"] == 0, "teams have names"
    games = [one for one in as_answers(gold_of(NFL)) if one["query"] == "games"]
    many = [{**one, "answer": {"?G": [f"_:{at}"]}} for one in games for at in range(40)]
    assert values(scored(NFL, written(tmp_path / "many.ndjson", many)))["f"] == 0, "nothing is said of any of them"
    found = values(scored(NFL, tmp_path / "many.ndjson", "queries=games"))
    assert found["recall"] == 1
    assert found["precision"] == pytest.approx(1 / 40)


@pytest.mark.req("R-31")
def test_the_answers_that_are_shipped_for_training_are_right(tmp_path):
    copy = shutil.copytree(NFL, tmp_path / "nfl")
    shutil.rmtree(copy / "gold")
    assert here("reading", "gold", copy, "--part", "train").code == 0
    assert values(scored(copy, NFL / "answers" / "train.ndjson", "part=train"))["f"] == 1


# Answers in other shapes


def one_answer(tmp_path, query, document, variable, shape):
    """The score of one gold answer whose value is written in another shape."""
    gold = next(one for one in gold_of(NFL) if (one["query"], one["document"]) == (query, document))
    answer = {**gold["answer"], variable: shape}
    path = written(tmp_path / "one.ndjson", [{"query": query, "document": document, "answer": answer}])
    return scored(NFL, path, f"queries={query}", f"documents={document}")


@pytest.mark.req("R-32")
@pytest.mark.parametrize("shape", [5, "5", "05", ["5"], "five", "Five", ["5", "five"], 5.0, "5.0", "５", '"5"', " 5 "])
def test_a_count_is_read_in_every_usual_form(tmp_path, shape):
    assert values(one_answer(tmp_path, "periods", "nfl-112", "?N", shape))["f"] == 1


@pytest.mark.req("R-32")
@pytest.mark.parametrize(
    "shape",
    ["2024-09-22", ["2024-09-22"], "September 22, 2024", "Sept. 22, 2024", "22 September 2024",
     "22nd of September 2024", "Sunday, September 22, 2024", "9/22/2024", "22.9.2024", "2024/09/22"],
)  # fmt: skip
def test_a_date_is_read_in_every_usual_form(tmp_path, shape):
    assert values(one_answer(tmp_path, "dates", "nfl-101", "?D", shape))["f"] == 1


@pytest.mark.req("R-32", case="bad")
@pytest.mark.parametrize(
    ("query", "document", "variable", "shape", "words"),
    [
        ("periods", "nfl-112", "?N", "about five", ["integer", '"five"']),
        ("periods", "nfl-112", "?N", ["5", "6"], ["2 values"]),
        ("periods", "nfl-112", "?N", 5.5, ["whole number"]),
        ("periods", "nfl-112", "?N", "12,34", ["whole number"]),
        ("periods", "nfl-112", "?N", True, ["whole number"]),
        ("periods", "nfl-112", "?N", {"n": 5}, ["literal"]),
        ("periods", "nfl-112", "?N", None, ["literal"]),
        ("periods", "nfl-112", "?N", [], ["value"]),
        ("periods", "nfl-112", "?N", "9" * 999, ["whole number"]),
        ("periods", "nfl-112", "?N", "1e999999999", ["whole number"]),
        ("dates", "nfl-101", "?D", "03/04/2024", ["one day", "January 15, 2005"]),
        ("dates", "nfl-101", "?D", "Sunday", ["one day"]),
        ("dates", "nfl-101", "?D", "2024-02-30", ["one day"]),
        ("winners", "nfl-101", "?T", 5, ["names"]),
        ("winners", "nfl-101", "?T", [["Bills"]], ["names"]),
        ("winners", "nfl-101", "?G", ["_:a", "_:b"], ["one id"]),
    ],
    ids=lambda one: str(one)[:20],
)
def test_what_is_no_value_of_its_type_is_refused_with_its_line(tmp_path, query, document, variable, shape, words):
    ended = one_answer(tmp_path, query, document, variable, shape)
    assert ended.code == 1
    (problem,) = json.loads(ended.stdout)["problems"]
    assert problem["line"] == 1
    said = " ".join((problem["message"], problem["fix"]))
    assert variable in problem["message"]
    assert [word for word in words if word not in said] == []


@pytest.mark.req("R-32")
@pytest.mark.parametrize(
    "name", ["Bills", "BILLS", "  buffalo   bills ", "“Bills”", "Bills.", "(Bills)", "Ｂｉｌｌｓ", "Buffalo\tBills,"]
)
def test_names_are_compared_without_case_width_blanks_and_surrounding_punctuation(tmp_path, name):
    assert values(one_answer(tmp_path, "winners", "nfl-101", "?T", [name]))["f"] == 1
    assert values(one_answer(tmp_path, "winners", "nfl-101", "?T", name))["f"] == 1, "one name needs no list"


@pytest.mark.req("R-32")
@pytest.mark.parametrize("name", ["Bill", "B.ills", "Bills Mafia", "the Bills"])
def test_other_words_are_other_names(tmp_path, name):
    assert values(one_answer(tmp_path, "winners", "nfl-101", "?T", [name]))["f"] == 0


@pytest.mark.req("S-4")
@pytest.mark.parametrize("credit", ["share", "dice"])
def test_an_entity_that_another_class_holds_more_of_has_no_credit_under_either_rule(tmp_path, credit):
    copy = shutil.copytree(NFL, tmp_path / "nfl")
    shutil.rmtree(copy / "gold")
    behind = {"kind": "explicit", "by": "panel", "when": "2026-01-31", "why": "annotated"}
    line = {"query": "teams", "document": "nfl-101", **behind}
    wide = ["Bills", "Buffalo", "Herd", "Blue", "Red", "Orchard", "Park", "North", "West"]
    gold = [{**line, "answer": {"?G": ["_:g"], "?T": names}} for names in (["Bills", "Buffalo"], wide)]
    written(copy / "gold" / "v1.ndjson", gold)
    answer = {**line, "answer": {"?G": ["_:x"], "?T": ["Bills", "Buffalo", "Herd"]}}
    found = json.loads(scored(copy, written(tmp_path / "a.ndjson", [answer]), f"credit={credit}").stdout)["values"]
    # The first class alone would give (1 + 2/3) / 2 by share and (1 + 4/5) / 2 by Dice; the second holds all three.
    expected = {"share": 1.0, "dice": (1 + 2 * 3 / 12) / 2}[credit]
    assert found["precision"]["value"] == pytest.approx(expected)


@pytest.mark.req("R-32")
@pytest.mark.parametrize("rules", ["p/rules/overtime.rules", "p"], ids=["a file of the package", "the package"])
@pytest.mark.parametrize("command", ["infer", "explain", "contexts", "answer"])
def test_every_command_knows_the_prefixes_of_the_package(tmp_path, rules, command):
    rule = "(rule overtime-default :if (?g m:hasOvertimePlay true) :then (?g m:numberOfPeriods 5))\n"
    root = tmp_path / "p"
    (root / "rules").mkdir(parents=True)
    (root / "rules" / "overtime.rules").write_text(rule)
    manifest = (
        (NFL / "package.toml").read_text().replace("[prefixes]", '[prefixes]\nm = "https://nfl.example/scoring#"')
    )
    (root / "package.toml").write_text(manifest)
    shutil.copy(NFL / "ontology.ttl", root)
    (tmp_path / "given.ndjson").write_text('["m:g1", "m:hasOvertimePlay", "true"]\n')
    more = {"explain": ["--statement", "m:g1 m:numberOfPeriods 5"], "answer": ["--query", "?g m:numberOfPeriods ?n"]}
    ended = here("reading", command, rules, "--statements", "given.ndjson", *more.get(command, []), cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert "numberOfPeriods 5" in ended.stdout or command in ("contexts", "answer")
    assert "is not known" not in ended.stdout + ended.stderr


@pytest.mark.req("R-32", case="bad")
def test_a_folder_that_is_no_package_is_refused(tmp_path):
    (tmp_path / "given.ndjson").write_text("")
    ended = here("reading", "infer", tmp_path, "--statements", tmp_path / "given.ndjson")
    assert ended.code == 2
    assert "package.toml" in ended.stderr


@pytest.mark.req("R-32", case="bad")
def test_gold_that_is_no_value_of_its_type_is_found_by_the_check(tmp_path):
    copy = shutil.copytree(NFL, tmp_path / "nfl")
    path = copy / "gold" / "v2.ndjson"
    path.write_text(path.read_text().replace('"?D":"2024-09-22"', '"?D":"Sunday"', 1))
    ended = here("reading", "check", copy)
    assert ended.code == 1
    assert "one day" in ended.stdout + ended.stderr


@pytest.mark.req("S-30")
def test_power_on_answers_counts_documents_and_no_clusters_of_them(tmp_path):
    gold = as_answers(gold_of(NFL))
    names = sorted({one["document"] for one in gold})
    rest = [one for one in gold if names.index(one["document"]) % 3]
    files = [f"A={written(tmp_path / 'a.ndjson', rest)}", f"B={written(tmp_path / 'b.ndjson', rest[::2])}"]
    asked = ("reading", "--reference", NFL, "--submission", files[0], "--submission", files[1], "--draws", "100")
    compared = here("compare", *asked, "--primary", "f")
    assert (compared.code, "documents, a difference of" in compared.stdout) == (0, True), compared.stderr
    assert "cluster" not in compared.stdout
    assert here("power", *asked, "--metric", "f", "--json").data["answers"][0]["unit"] == "document"
