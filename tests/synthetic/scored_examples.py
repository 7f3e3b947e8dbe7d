"""Small example files of the tasks ranking, labels, ratings and relevance: made from a seed, the same on every machine.

The generators of numpy may change between versions, so all that is random here comes from hashes of names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from basanite.synthetic import normal, share

QUERIES, DOCUMENTS, RETRIEVED, POOLED = 24, 60, 20, 12
RUNS = {"alpha": 1.8, "beta": 1.2, "gamma": 0.6}
CLASSES = ("AnswerPhone", "DriveCar", "Eat", "Kiss", "Run", "SitDown")
CLIPS, FILMS = 120, 30
CONFIDENT = {"alpha": 1.6, "beta": 0.9}
RATINGS = ("overall", "food", "ambiance", "service", "noise")
REVIEWS, RESTAURANTS = 120, 25
ERROR = {"alpha": 0.7, "beta": 1.1}
JUDGES = ("ann", "bob", "cy")
ITEMS = 36
SUBJECTS = ("a dog", "a red car", "two children", "an old man", "a small boat", "the cat")
PLACES = ("on the beach", "in the garden", "under a bridge", "near the river", "at the market", "behind a fence")
DOINGS = ("runs", "sleeps", "waits", "plays with a ball", "looks at the sea", "stands in the rain")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lines of a CSV file; no cell needs quotes."""
    return "".join(",".join(map(str, row)) + "\n" for row in (header, *rows))


def write_examples(folder: Path) -> None:
    """Write all files below a folder."""
    for name, text in example_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def example_files() -> dict[str, str]:
    """All files by their place below the folder of examples."""
    return {**ranking_files(), **labels_files(), **ratings_files(), **relevance_files()}


def ranking_files() -> dict[str, str]:
    """Three runs, and judgements of what their first documents brought together; some of those are not judged."""
    runs = {name: {query: _retrieved(name, query) for query in _queries()} for name in RUNS}
    files = {f"ranking/{name}.run": "".join(_run_lines(name, run)) for name, run in runs.items()}
    return {**files, "ranking/qrels.txt": "".join(_qrels_lines(runs)), "ranking/queries.tsv": _kinds()}


def _queries() -> list[str]:
    return [f"q{number:02d}" for number in range(1, QUERIES + 1)]


def _grade(query: str, document: str) -> int:
    """The true grade of a document; the third query has no relevant one."""
    return 0 if query == "q03" else int(max(0, math.floor(normal("grade", query, document) * 1.2 + 0.2)))


def _retrieved(run: str, query: str) -> list[tuple[str, float]]:
    documents = [f"doc{number:03d}" for number in range(DOCUMENTS)]
    scores = {name: RUNS[run] * _grade(query, name) + normal(run, query, name) for name in documents}
    rounded = [(name, round(score, 2)) for name, score in scores.items()]
    return sorted(rounded, key=lambda pair: (pair[1], pair[0]), reverse=True)[:RETRIEVED]


def _run_lines(name: str, run: Mapping[str, Sequence[tuple[str, float]]]) -> Iterator[str]:
    for query, found in run.items():
        if (name, query) != ("gamma", "q07"):  # a query that this system did not answer
            for rank, (document, score) in enumerate(found, start=1):
                yield f"{query} Q0 {document} {rank} {score:.2f} {name}\n"


def _qrels_lines(runs: Mapping[str, Mapping[str, Sequence[tuple[str, float]]]]) -> Iterator[str]:
    for query in _queries():
        pool = {document for run in runs.values() for document, _ in run[query][:POOLED]}
        for document in sorted(pool):
            judged = share("judged", query, document) < 0.9
            yield f"{query} 0 {document} {_grade(query, document) if judged else -1}\n"


def _kinds() -> str:
    rows = ((query, "name" if share("kind", query) < 0.4 else "topic") for query in _queries())
    return "query\tkind\n" + "".join(f"{query}\t{kind}\n" for query, kind in rows)


def labels_files() -> dict[str, str]:
    """Clips of films with one or more of six actions, and the confidences of two systems."""
    clips = [f"clip{number:03d}" for number in range(1, CLIPS + 1)]
    truth = [(clip, _film(clip), *(_label(clip, name) for name in CLASSES)) for clip in clips]
    files = {"labels/reference.csv": table(("id", "film", *CLASSES), truth)}
    for system, skill in CONFIDENT.items():
        rows = [(clip, *(f"{_confidence(system, skill, clip, name):.3f}" for name in CLASSES)) for clip in clips]
        files[f"labels/{system}.csv"] = table(("id", *CLASSES), rows)
    return files


def _film(clip: str) -> str:
    return f"film{math.floor(share('film', clip) * FILMS):02d}"


def _label(clip: str, name: str) -> int:
    likely = 0.12 + 0.05 * CLASSES.index(name)
    return int(share("label", clip, name) < likely)


def _confidence(system: str, skill: float, clip: str, name: str) -> float:
    return 1 / (1 + math.exp(1.5 - skill * 1.5 * _label(clip, name) - normal(system, clip, name)))


def ratings_files() -> dict[str, str]:
    """Reviews of restaurants with five ratings of 1 to 5, some not given, and the predictions of two systems."""
    reviews = [f"review{number:03d}" for number in range(1, REVIEWS + 1)]
    truth = [(name, _restaurant(name), *(_shown(name, rating) for rating in RATINGS)) for name in reviews]
    files = {"ratings/reference.csv": table(("id", "restaurant", *RATINGS), truth)}
    for system, error in ERROR.items():
        rows = [(name, *(f"{_predicted(system, error, name, rating):.2f}" for rating in RATINGS)) for name in reviews]
        files[f"ratings/{system}.csv"] = table(("id", *RATINGS), rows)
    return files


def _restaurant(review: str) -> str:
    return f"r{math.floor(share('restaurant', review) * RESTAURANTS):02d}"


def _rating(review: str, rating: str) -> int:
    return min(5, max(1, round(3.6 + 0.9 * normal("review", review) + 0.7 * normal("rating", review, rating))))


def _shown(review: str, rating: str) -> str:
    missing = rating == "noise" and share("missing", review) < 0.1
    return "" if missing else str(_rating(review, rating))


def _predicted(system: str, error: float, review: str, rating: str) -> float:
    return _rating(review, rating) + error * normal(system, review, rating)


def relevance_files() -> dict[str, str]:
    """Questions about pictures, what three judges said of the answers, and the answers."""
    items = [f"item{number:02d}" for number in range(1, ITEMS + 1)]
    rows = [
        (item, judge, _judged(item, judge), _question(item) if judge == JUDGES[0] else "")
        for item in items
        for judge in JUDGES
    ]
    answers = [(item, _answer(item)) for item in items]
    return {
        "relevance/reference.csv": table(("item", "judge", "relevance", "question"), rows),
        "relevance/alpha.csv": table(("item", "text"), answers),
    }


def _chosen(words: Sequence[str], *names: object) -> str:
    return words[math.floor(share(*names) * len(words))]


def _scene(item: str, source: str) -> tuple[str, str]:
    return _chosen(SUBJECTS, source, item, "subject"), _chosen(PLACES, source, item, "place")


def _question(item: str) -> str:
    subject, place = _scene(item, "true")
    return f"What does {subject} do {place}?"


def _answer(item: str) -> str:
    """A good answer speaks of what was asked; a bad one of something else."""
    (subject, place), (other, elsewhere) = _scene(item, "true"), _scene(item, "false")
    level = _level(item)
    subject, place = subject if level > 0 else other, place if level > 1 else elsewhere
    return f"{subject[0].upper()}{subject[1:]} {_chosen(DOINGS, item)} {place}."


def _level(item: str) -> int:
    return math.floor(share("level", item) * 3)


def _judged(item: str, judge: str) -> int:
    slip = share("slip", item, judge) < 0.1
    return int((_level(item) > 0) != slip)
