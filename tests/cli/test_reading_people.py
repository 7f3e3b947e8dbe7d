"""People as a baseline, what to annotate next, and effort against scores: by command."""

from __future__ import annotations

import json
import shutil
import statistics

import pytest
from tests.cli.running import READING, here

NFL = READING / "nfl"


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(path, records):
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
    return path


def counts(ended):
    assert ended.code == 0, ended.stderr + ended.stdout
    return ended.data


# People one by one


@pytest.fixture(scope="module")
def winners():
    """The gold answers to one query whose answers are all stated: nothing but counting is needed."""
    gold = [one for one in rows(NFL / "gold" / "v1.ndjson") if one["query"] == "winners"]
    return [{name: one[name] for name in ("query", "document", "answer", "kind")} for one in gold]


def by(reader, answers):
    return [{**one, "reader": reader} for one in answers]


def in_other_words(one, at):
    """The same answer as somebody else would write it: another id for the game, one name of the team."""
    return {**one, "answer": {"?G": [f"_:x{at}"], "?T": [sorted(one["answer"]["?T"], key=len)[0]]}}


def people_of(tmp_path, records, *more, package=NFL):
    human = written(tmp_path / "human.ndjson", records)
    words = ("score", "reading", "--reference", package, "--submission", NFL / "answers" / "baseline.ndjson")
    words += ("--human", human, "--set", "queries=winners", "--set", "gold=v1", "--draws", "100", *more)
    return here(*words)


@pytest.mark.req("R-39", case="good")
def test_each_reader_stands_beside_the_union_of_all(tmp_path, winners):
    documents = sorted({one["document"] for one in winners})
    first, second = winners, [one for one in winners if one["document"] in documents[:10]]
    half = second[::2]
    wrong = [{**one, "answer": {**one["answer"], "?T": ["nobody"]}} for one in second[1::2]]
    told = [*by("A", first), *by("B", [in_other_words(one, at) for at, one in enumerate([*half, *wrong])])]
    data = counts(people_of(tmp_path, told, "--json"))
    parts = data["values"]["human_f"]["parts"]
    # By hand: A is right throughout. B gave as many answers as the gold has about these documents, half of them right.
    share = len(half) / len(second)
    assert parts["readers"] == 2
    assert (parts["most"], parts["least"]) == (1, pytest.approx(share))
    assert parts["mean_reader"] == pytest.approx(statistics.mean([1, share]))
    assert parts["spread"] == pytest.approx(statistics.stdev([1, share]))
    assert parts["agreement"] == pytest.approx(share), "of the documents that both read, they agree on the right half"
    # Pooled, an answer in other words counts once; the wrong ones are what precision loses.
    pooled = len(winners) / (len(winners) + len(wrong))
    assert data["values"]["human_precision"]["value"] == pytest.approx(pooled)
    assert data["values"]["human_recall"]["value"] == 1
    shown = people_of(tmp_path, told).stdout
    assert "People, one by one" in shown
    assert "Agreement between readers" in shown


@pytest.mark.req("R-39", case="good")
def test_what_only_one_reader_brought_in_is_left_out_for_that_reader(tmp_path, winners):
    package = shutil.copytree(NFL, tmp_path / "nfl")
    path = package / "gold" / "v1.ndjson"
    gold = rows(path)
    mine = next(one for one in gold if one["query"] == "winners")
    written(path, [{**one, "system": "A"} if one == mine else one for one in gold])
    kept = [one for one in winners if one["document"] == mine["document"]]
    more = [one for one in winners if one["document"] != mine["document"]][:3]
    data = counts(people_of(tmp_path, by("A", [*kept, *more]), "--json", package=package))
    parts = data["values"]["human_f"]["parts"]
    assert parts["mean_reader"] == 1
    # Without the line that A alone found, A's answer to it is one too many: F = 2 n / (2 n + 1).
    size = len(kept) + len(more) - 1
    assert parts["mean_without_own_gold"] == pytest.approx(2 * size / (2 * size + 1))


@pytest.mark.req("R-39", case="bad")
def test_nobody_and_unknown_readers_are_no_zero(tmp_path, winners):
    data = counts(people_of(tmp_path, winners, "--json"))
    assert data["values"]["human_f"]["parts"] == {}, "answers that do not say whose they are have no readers"
    assert data["values"]["human_f"]["value"] == 1
    words = ("score", "reading", "--reference", NFL, "--submission", NFL / "answers" / "baseline.ndjson", "--json")
    assert counts(here(*words, "--draws", "100"))["values"]["human_f"]["value"] is None
    refused = people_of(tmp_path, [{**winners[0], "reader": 5}])
    assert refused.code != 0
    assert "'reader' is not text" in refused.stdout + refused.stderr


# What to annotate next


@pytest.fixture
def half(tmp_path):
    """The example with nine annotated training texts, none of which went into overtime."""
    package = shutil.copytree(NFL, tmp_path / "nfl")
    path = package / "annotations" / "train.ndjson"
    lines = rows(path)
    with_overtime = {one["document"] for one in lines if "hasOvertimePlay" in one["statement"][1]}
    kept = sorted({one["document"] for one in lines} - with_overtime)[:9]
    written(path, [one for one in lines if one["document"] in kept and "pointsScored" not in one["statement"][1]])
    return package


@pytest.mark.req("R-46", case="good")
def test_the_queries_of_a_task_say_what_to_annotate_next(half):
    told = counts(here("reading", "next", half, "--part", "train", "--query", "overtime", "--show", "6", "--json"))
    assert (told["annotated"], told["left"]) == (9, 31)
    (need,) = told["queries"]
    assert (need["query"], need["answers"], need["documents"]) == ("overtime", 0, 0)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (half / "corpus" / "train").glob("*.txt")}
    spoken = [one["document"] for one in told["texts"] if "overtime" in texts[one["document"]].casefold()]
    everywhere = sum("overtime" in text.casefold() for text in texts.values()) / len(texts)
    assert len(spoken) / len(told["texts"]) > 2 * everywhere, "texts about overtime come first"
    worth = [one["worth"] for one in told["texts"]]
    assert worth == sorted(worth, reverse=True)
    missing = counts(here("reading", "next", half, "--part", "train", "--query", "final-scores", "--json"))
    assert missing["statements"], "the points were taken out of every annotated text"
    assert {one["missing"].split()[1] for one in missing["statements"]} == {"nfl:pointsScored"}
    assert all("nfl:teamScoringAll" in " ".join(one["known"]) for one in missing["statements"])


@pytest.mark.req("R-46", case="bad")
def test_what_there_is_nothing_of_is_said(half, tmp_path):
    assert "no query 'overtme'" in here("reading", "next", half, "--part", "train", "--query", "overtme").stderr
    assert "no part 'trian'" in here("reading", "next", half, "--part", "trian").stderr
    (half / "annotations" / "train.ndjson").unlink()
    told = counts(here("reading", "next", half, "--part", "train", "--query", "overtime", "--show", "2", "--json"))
    assert (told["annotated"], told["statements"], len(told["texts"])) == (0, [], 2)


# Effort and scores


@pytest.mark.req("R-45", case="good")
def test_the_effort_of_an_adaptation_is_drawn_against_its_scores(tmp_path):
    package = shutil.copytree(NFL, tmp_path / "nfl")
    answers = rows(NFL / "answers" / "baseline.ndjson")
    runs = [written(tmp_path / f"run{size}.ndjson", answers[:size]) for size in (60, 200)]
    runs.append(written(tmp_path / "silent.ndjson", answers))
    log = ("reading", "effort", package, "--date", "2026-01-02", "--add")
    for words in (
        ("rules", "--minutes", "90", "--system", "base", "--rules", "12", "--examples", "40", "--run", "run60"),
        ("annotation", "--minutes", "60", "--annotations", "30"),
        ("annotation", "--minutes", "30", "--system", "base", "--examples", "20"),
        ("rules", "--minutes", "60", "--system", "base", "--rules", "6", "--run", "run200"),
    ):
        assert here(*log, *words).code == 0
    page = tmp_path / "curve.html"
    words = ("reading", "adaptation", package, *runs, "--draws", "100", "--report", page)
    found = {one["run"]: one for one in counts(here(*words, "--json"))["runs"]}
    costs = {name: (one["hours"], one["rules"], one["examples"]) for name, one in found.items()}
    # What the use case itself took (the annotation without a system) is not the system's.
    assert costs == {"run60": (1.5, 12, 40), "run200": (3.0, 18, 60), "silent": (None, None, None)}
    score = ("score", "reading", "--reference", package, "--submission", runs[1], "--draws", "100", "--json")
    assert found["run200"]["value"] == pytest.approx(counts(here(*score))["values"]["f"]["value"])
    shown = page.read_text(encoding="utf-8")
    assert "F by hours of work" in shown
    assert "not drawn: silent" in shown


@pytest.mark.req("R-45", case="bad")
def test_effort_that_cannot_be_drawn_is_refused(tmp_path):
    package = shutil.copytree(NFL, tmp_path / "nfl")
    alone = here("reading", "effort", package, "--add", "rules", "--minutes", "1", "--run", "x")
    assert (alone.code, "--system" in alone.stderr) == (2, True)
    missing = here("reading", "adaptation", package, NFL / "answers" / "baseline.ndjson", "--effort", tmp_path / "no")
    assert (missing.code, "no log of effort" in missing.stderr) == (2, True)
    written(
        package / "effort.ndjson",
        [{"use_case": "n", "activity": "rules", "minutes": 5, "date": "2026-01-02", "rules": "x"}],
    )
    wrong = here("reading", "adaptation", package, NFL / "answers" / "baseline.ndjson")
    assert wrong.code == 1
    assert "'rules' is no count" in wrong.stdout + wrong.stderr
