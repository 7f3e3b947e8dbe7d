"""A small judgement of readability: passages of several genres, two panels with biases of their own, two machines.

All that is random comes from hashes of names, so the files are the same on every machine. Texts are made up: the more
readable a passage is meant to be, the more of its sentences are short and plain.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from basanite.synthetic import normal, share

GENRES = ("newswire", "weblog", "forum", "encyclopaedia", "transcript", "captions")
TOPICS = ("weather", "sport", "travel", "health", "trade")
PASSAGES, ROUND, SENTENCES = 60, 10, 6
EXPERTS = ("expert1", "expert2", "expert3", "expert4", "expert5", "expert6")
NOVICES = ("ann", "bob", "cy", "dee", "eli", "fay", "gus", "hal")
NOISE = {"expert": 0.55, "novice": 0.95}
BIAS = {"expert": 0.2, "novice": 0.5}
SKIPPED = 0.04
UPSIDE_DOWN = "hal"
MACHINES = {"machine": 0.5, "second": 1.0}
HEADER = ("passage", "judge", "panel", "rating", "genre", "topic", "round", "rank", "text")
WHO = ("The team", "A girl", "The old man", "My friend", "The doctor", "A driver")
DOES = ("waits for the bus", "walks home", "looks at the rain", "buys bread", "plays in the park", "reads a letter")
LINKS = ("Then", "So", "But", "Also")
MATTERS = (
    "administrative complexity",
    "commercial infrastructure",
    "institutional responsibility",
    "seasonal variability",
)
EFFECTS = (
    "characterises international negotiations",
    "necessitates additional documentation",
    "complicates evaluation",
)
DONE = ("accommodated", "characterised", "reconsidered", "postponed")
ACTORS = ("the responsible authorities", "independent organisations", "regional representatives")


@dataclass(frozen=True)
class Passage:
    """A passage with what it is meant to be."""

    name: str
    genre: str
    topic: str
    round: int
    ease: float
    text: str


def example_files() -> dict[str, str]:
    """All files by their place below the folder of examples."""
    passages = tuple(passage_of(number) for number in range(PASSAGES))
    machines = {f"readability/{name}.csv": _machine(name, passages) for name in MACHINES}
    return {"readability/panels.csv": _panels(passages), **machines}


def write_examples(folder: Path) -> None:
    """Write all files below a folder."""
    for name, text in example_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def passage_of(number: int) -> Passage:
    """One passage: genres and topics come in turn, so that every round has its share of each."""
    name = f"p{number + 1:02d}"
    ease = min(5.0, max(1.0, 3.1 + 1.1 * normal("ease", name)))
    text = " ".join(_sentence(name, at, ease) for at in range(SENTENCES))
    return Passage(name, GENRES[number % len(GENRES)], TOPICS[number % len(TOPICS)], number // ROUND + 1, ease, text)


def _sentence(name: str, at: int, ease: float) -> str:
    if share("hard", name, at) > (5 - ease) / 4:
        link = f"{_of(LINKS, 'link', name, at)} " if at and share("linked", name, at) < 0.5 else ""
        who = _of(WHO, "who", name, at)
        return f"{link}{who[0].lower() + who[1:] if link else who} {_of(DOES, 'does', name, at)}."
    return (
        f"The {_of(MATTERS, 'matter', name, at)}, which {_of(EFFECTS, 'effect', name, at)}, was "
        f"{_of(DONE, 'done', name, at)} by {_of(ACTORS, 'actor', name, at)} although considerable "
        f"{_of(MATTERS, 'more', name, at)} was anticipated during the preceding consultations."
    )


def _of(words: Sequence[str], *names: object) -> str:
    return words[int(share(*names) * len(words))]


def _panels(passages: Sequence[Passage]) -> str:
    """A line for each judge and passage; the text stands on the first line of its passage only."""
    judges = [("expert", judge) for judge in EXPERTS] + [("novice", judge) for judge in NOVICES]
    feelings = {judge: _feelings(panel, judge, passages) for panel, judge in judges}
    orders = {judge: _order(judge, feelings[judge]) for _, judge in judges}
    rows = []
    for passage in passages:
        for at, (panel, judge) in enumerate(judges):
            if panel == "novice" and share("skipped", judge, passage.name) < SKIPPED:
                continue
            rank = _rank(passage, orders[judge], passages)
            text = passage.text if at == 0 else ""
            stars = _stars(feelings[judge][passage.name])
            rows.append((passage.name, judge, panel, stars, passage.genre, passage.topic, passage.round, rank, text))
    return _written(HEADER, rows)


def _feelings(panel: str, judge: str, passages: Sequence[Passage]) -> dict[str, float]:
    """How readable a judge finds each passage: what it is, what this judge adds throughout, and chance."""
    bias = BIAS[panel] * normal("bias", judge)
    return {each.name: each.ease + bias + NOISE[panel] * normal("rating", judge, each.name) for each in passages}


def _order(judge: str, feelings: Mapping[str, float]) -> dict[str, float]:
    """What a judge goes by when ranking: nearly the same; one of them mistakes the order and ranks upside down."""
    turned = -1 if judge == UPSIDE_DOWN else 1
    return {name: turned * (feeling + 0.3 * normal("rank", judge, name)) for name, feeling in feelings.items()}


def _stars(feeling: float) -> int:
    return int(min(5, max(1, round(feeling))))


def _rank(passage: Passage, order: Mapping[str, float], passages: Sequence[Passage]) -> int:
    """The rank in the round: 1 is the most readable."""
    rivals = (each for each in passages if each.round == passage.round)
    return 1 + sum(order[each.name] > order[passage.name] for each in rivals)


def _machine(name: str, passages: Sequence[Passage]) -> str:
    ratings = (min(5.0, max(1.0, each.ease + MACHINES[name] * normal(name, each.name))) for each in passages)
    rows = [(each.name, f"{rating:.2f}") for each, rating in zip(passages, ratings, strict=True)]
    return _written(("passage", "rating"), rows)


def _written(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()
