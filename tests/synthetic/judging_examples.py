"""Small files about judging: a pool of passages with the marks of their genres, judged translations, and pairs.

All that is random comes from hashes of names, so the files are the same on every machine.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.synthetic.readability_files import TOPICS, passage_of

from basanite.synthetic import normal, share

EACH = 14
MARKED = {
    "newswire": "{place}, May {day} (AFN) -- {text}\n(Reporting by A. Bee; Editing by C. Dee)\n-30-",
    "weblog": "Posted by Jo at {day}:30\n{text} #{topic} http://blog.example/{name}\nRead more about {topic}",
    "forum": "Al wrote:\n> is that so?\n{text} :-)\n-- \nJo, {day} posts",
    "encyclopaedia": "== {topic} ==\n{{{{Infobox|{topic}}}}}'''{text}'''[{day}]<ref>{name}</ref>",
    "broadcast": "ANCHOR: {text} (APPLAUSE)",
    "captions": "{number}\n00:{day:02d}:02,500 --> 00:{day:02d}:09,000\n>> {shouted} [MUSIC]",
    "mt": "{text} <unk> &quot;{topic}&quot;",
}
PLACES = ("PARIS", "OSLO", "LIMA", "NEW DELHI")
POOL = ("passage", "genre", "topic", "text")
SYSTEMS = {"Alpha": 78.0, "Beta": 70.0, "Gamma": 62.0}
JUDGES, DOCUMENTS, SEGMENTS = ("j1", "j2", "j3", "j4", "j5", "j6"), 8, 3
MQM = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")


def example_files() -> dict[str, str]:
    """All files by their place below the folder of examples."""
    return {
        "judging/pool.csv": _written((POOL, *_pool())),
        "judging/appraise.csv": _written(_appraise()),
        "judging/units.csv": _written([("unit", "system", "metric", "value"), *_units()]),
        "judging/mqm.tsv": "".join("\t".join(row) + "\n" for row in (MQM, *_mqm())),
        "judging/pairs.csv": _written((("first", "second", "outcome", "item", "judge"), *_pairs())),
        "judging/ratings.csv": _written((("item", "judge", "rating"), *_ratings())),
    }


def write_examples(folder: Path) -> None:
    """Write all files below a folder."""
    for name, text in example_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _pool() -> Iterator[tuple[str, ...]]:
    """Passages of every genre in turn; one is too short and one stands there twice, for vetting to find."""
    genres = tuple(MARKED)
    for number in range(EACH * len(genres)):
        genre, topic = genres[number % len(genres)], TOPICS[number // len(genres) % len(TOPICS)]
        yield (f"w{number + 1:03d}", genre, topic, _marked(number, genre, topic))
    yield ("short", "forum", "sport", "Too short to be judged.")
    yield ("twin", "newswire", "sport", passage_of(0).text.upper())


def _marked(number: int, genre: str, topic: str) -> str:
    text = passage_of(number).text
    words = {"text": text, "shouted": text.upper(), "topic": topic, "name": f"w{number + 1:03d}", "number": number + 1}
    return MARKED[genre].format(place=PLACES[number % len(PLACES)], day=number % 28 + 1, **words)


def _segments() -> Iterator[tuple[str, str, str, str]]:
    """Every segment of every system with two judges."""
    for system in SYSTEMS:
        for document in range(DOCUMENTS):
            for segment in range(SEGMENTS):
                for turn in range(2):
                    judge = JUDGES[(document + 3 * turn) % len(JUDGES)]
                    yield system, f"doc{document + 1}", f"{document + 1}.{segment + 1}", judge


def _appraise() -> Iterator[tuple[object, ...]]:
    for system, document, segment, judge in _segments():
        bias = 6 * normal("bias", judge)
        score = round(min(100.0, max(0.0, SYSTEMS[system] + bias + 8 * normal(system, segment, judge))))
        yield (judge, system, segment, "TGT", "deu", "eng", score, document, "False", _spans(score), "0.0", "21.5")


def _units() -> Iterator[tuple[object, ...]]:
    """What a metric says of the same translations: the mean of their judges' scores, and chance."""
    scores: dict[tuple[str, str], list[int]] = {}
    for _, system, segment, _, _, _, score, document, *_ in _appraise():
        scores.setdefault((f"{document}#{segment}", str(system)), []).append(int(str(score)))
    for (unit, system), given in scores.items():
        value = sum(given) / len(given) / 100 + 0.1 * normal("metric", unit, system)
        yield unit, system, "chrf", round(min(1.0, max(0.0, value)), 4)


def _spans(score: int) -> str:
    severity = "major" if score < 60 else "minor"
    return json.dumps([] if score > 80 else [{"start_i": 4, "end_i": 8, "severity": severity, "error_type": None}])


def _mqm() -> Iterator[tuple[str, ...]]:
    for system, document, segment, judge in _segments():
        place = (system, document, segment, segment, judge, "Der Zug kam spät an.")
        if share("fault", system, segment, judge) < (95 - SYSTEMS[system]) / 60:
            severity = "Major" if share("bad", system, segment) < 0.3 else "Minor"
            yield (*place, "The train <v>come</v> late.", "Fluency.Grammar", severity)
        else:
            yield (*place, "The train came late.", "No-error", "no-error")


def _pairs() -> Iterator[tuple[str, ...]]:
    names = tuple(SYSTEMS)
    for item in range(40):
        for judge in JUDGES[:3]:
            first, second = names[item % 3], names[(item + 1 + item // 3 % 2) % 3]
            lead = (SYSTEMS[first] - SYSTEMS[second]) / 12 + normal("pair", item, judge)
            outcome = "tie" if abs(lead) < 0.25 else "first" if lead > 0 else "second"
            yield (first, second, outcome, f"t{item + 1:02d}", judge)


def _ratings() -> Iterator[tuple[str, str, int]]:
    """Stars of four judges, one of them lenient; the last judge left some items out."""
    for item in range(24):
        for judge, bias in (("j1", 0.0), ("j2", 0.9), ("j3", 0.0), ("j4", -0.2)):
            stars = 3 + 1.2 * normal("worth", item) + bias + 0.6 * normal("stars", item, judge)
            if judge != "j4" or item % 4:
                yield (f"t{item + 1:02d}", judge, round(min(5.0, max(1.0, stars))))


def _written(rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


if __name__ == "__main__":
    write_examples(Path(sys.argv[1]))
