"""The small examples of translation and speech, in one folder each: segments, conversations and whole documents.

`python -m tests.synthetic.language_examples FOLDER` makes both again, byte for byte.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

SYSTEMS: Final = {"Alpha": 0.15, "Beta": 0.3}
"""Two systems and the share of words that each gets wrong."""
DOCUMENTS, SEGMENTS = 30, 4
RECORDINGS, TURNS = 18, 5
PACK: Final = 18
GENRES: Final = {"NT": "text", "SM": "text", "NB": "speech", "CS": "speech"}
WHO: Final = ("the minister", "a farmer", "the old teacher", "my sister", "the new mayor", "a young driver")
DID: Final = ("bought", "described", "sold", "repaired", "found", "promised")
WHAT: Final = ("a small house", "the broken bridge", "two red cars", "the school", "a bag of rice", "many books")
WHERE: Final = ("near the river", "in the village", "at the market", "behind the church", "on the main road", "in town")
WHEN: Final = ("last year", "on Monday", "before the rain", "this morning", "after the vote", "in May")
OTHERWISE: Final = {
    "bought": "purchased",
    "described": "depicted",
    "repaired": "fixed",
    "small": "little",
    "near": "close to",
    "village": "hamlet",
    "many": "a lot of",
    "mayor": "head of the town",
    "main": "big",
    "promised": "pledged",
}


def write_examples(folder: Path) -> None:
    """Write both examples."""
    write_translation(folder / "translation")
    write_speech(folder / "speech")


def write_translation(folder: Path) -> None:
    """Segments of documents with two references each, two systems, and the documents of a pack."""
    rng = np.random.default_rng(31)
    truth = list(_segments(rng))
    _write_json_lines(folder / "reference.jsonl", truth)
    for name, rate in SYSTEMS.items():
        answers = ({"id": one["id"], "text": _wrong(one["references"][0], rate, rng)} for one in truth)
        _write_json_lines(folder / f"{name}.jsonl", answers)
    _write_pack(folder / "pack", "translation", ".translation.eng.txt", rng)


def write_speech(folder: Path) -> None:
    """Conversations on two channels with times, two systems, and the documents of a pack."""
    rng = np.random.default_rng(32)
    turns = list(_turns(rng))
    _write(folder / "reference.stm", [";; synthetic conversations on two channels", *(turn["stm"] for turn in turns)])
    for name, rate in SYSTEMS.items():
        _write(folder / f"{name}.ctm", (line for turn in turns for line in _heard(turn, rate, rng)))
    _write(folder / "mapping.glm", [";; what shall not count as a difference", "two => 2", "in town => downtown"])
    _write_pack(folder / "pack", "transcription", ".transcription.txt", rng)


def _segments(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for document in range(DOCUMENTS):
        genre = ("NT", "NB")[document % 2]
        for number in range(SEGMENTS):
            text = sentence(rng)
            name, references = f"doc{document:02}-{number + 1}", [text, otherwise(text)]
            yield {"id": name, "document": f"doc{document:02}", "genre": genre, "references": references}


def _wrong(text: str, rate: float, rng: np.random.Generator) -> str:
    return " ".join(careless(text.split(), rate, rng))


def _turns(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Turns of two speakers, a little over one another; now and then somebody talks in the background."""
    for recording in range(RECORDINGS):
        clock, name = 0.0, f"call{recording:02}"
        for turn in range(TURNS):
            channel, text = "AB"[turn % 2], spoken(sentence(rng))
            start, end = max(clock - 0.4, 0.0), clock + 0.35 * len(text.split())
            yield _turn(name, channel, f"{name}{channel}", (start, end), ("<o>", text))
            clock = end
        yield _turn(name, "A", "nobody", (clock + 1, clock + 3), ("<o,background>", "taxi taxi over here"))


def _turn(name: str, channel: str, speaker: str, span: tuple[float, float], said: tuple[str, str]) -> dict[str, Any]:
    label, text = said
    written = text.replace("before", "(uh) before").replace("a bag of", "{ a bag of / a bag o' }")
    line = f"{name} {channel} {speaker} {span[0]:.2f} {span[1]:.2f} {label} {written}"
    return {"recording": name, "channel": channel, "start": span[0], "end": span[1], "text": text, "stm": line}


def _heard(turn: Mapping[str, Any], rate: float, rng: np.random.Generator) -> Iterator[str]:
    """The words of a turn with times spread evenly over it."""
    words = careless(turn["text"].split(), rate, rng)
    step = (turn["end"] - turn["start"]) / max(len(words), 1)
    for number, word in enumerate(words):
        start, sure = turn["start"] + number * step, 0.5 + rng.random() / 2
        yield f"{turn['recording']} {turn['channel']} {start:.2f} {step:.2f} {word} {sure:.2f}"


def _write_pack(folder: Path, kind: str, ending: str, rng: np.random.Generator) -> None:
    """Whole documents as a data set has them, what a system made of them, and what kind each is."""
    table = ["document\tgenre\tmode"]
    for number in range(PACK):
        name = f"MATERIAL_BASE-1A_{rng.integers(10**7, 10**8)}"
        genre = ("NB", "CS")[number % 2] if kind == "transcription" else list(GENRES)[number % len(GENRES)]
        table.append(f"{name}\t{genre}\t{GENRES[genre]}")
        texts = [sentence(rng) for _ in range(5)]
        lines = [spoken(text) for text in texts] if kind == "transcription" else texts
        _write(folder / kind / f"{name}{ending}", lines)
        _write(folder / "Alpha" / f"{name}.txt", [_wrong(line, SYSTEMS["Alpha"], rng) for line in lines])
    _write(folder / "documents.tsv", table)


def _write_json_lines(path: Path, objects: Iterable[Mapping[str, Any]]) -> None:
    _write(path, (json.dumps(one, ensure_ascii=False) for one in objects))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())


def sentence(rng: np.random.Generator) -> str:
    """One sentence."""
    who, did, what, where, when = (str(rng.choice(words)) for words in (WHO, DID, WHAT, WHERE, WHEN))
    text = f"{when} {who} {did} {what} {where}" if rng.random() < 0.3 else f"{who} {did} {what} {where} {when}"
    return text[0].upper() + text[1:] + "."


def otherwise(text: str) -> str:
    """The same in other words.

    >>> otherwise("My sister bought many books.")
    'My sister purchased a lot of books.'
    """
    return " ".join(OTHERWISE.get(word, word) for word in text.split())


def careless(words: Sequence[str], rate: float, rng: np.random.Generator) -> list[str]:
    """The words with some replaced, dropped or doubled, at this rate."""
    pool = " ".join((*WHO, *DID, *WHAT, *WHERE, *WHEN)).split()
    found: list[str] = []
    for word in words:
        die = rng.random() / rate
        found += [] if die < 0.25 else [str(rng.choice(pool))] if die < 0.85 else [word, word] if die < 1 else [word]
    return found


def spoken(text: str) -> str:
    """A sentence as it is said: no capitals, no full stop."""
    return text.rstrip(".").lower()


if __name__ == "__main__":
    write_examples(Path(sys.argv[1]))
