"""The small examples of parsing, lm and classification, in one folder each.

`python -m tests.synthetic.sentence_examples FOLDER` makes all three again, byte for byte.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from basanite.synthetic.treebank import Parser, Treebank, tree_text

SEED, SENTENCES, ITEMS = 11, 60, 150
PARSERS = {
    "Alpha": Parser(),
    "Beta": Parser(raised=0.25, forgotten=0.08, mislabelled=0.08, mistagged=0.06, strayed=0.06),
}
USUAL = "DELETE_LABEL TOP\nDELETE_LABEL -NONE-\nDELETE_LABEL ,\nDELETE_LABEL .\nDELETE_LABEL_FOR_LENGTH -NONE-\n"
MODELS = {"Alpha": 3.0, "Beta": 3.6}
READINGS = ("first", "second", "both")
AMBIGUITIES = ("lexical", "syntactic", "co-reference")
RIGHT: Mapping[str, Mapping[str, float]] = {
    "Alpha": {"lexical": 0.9, "syntactic": 0.8, "co-reference": 0.5},
    "Beta": {"lexical": 0.6, "syntactic": 0.75, "co-reference": 0.75},
}
"""How often each system finds the reading that was meant, for each type of ambiguity."""


def write_examples(folder: Path) -> None:
    """Write all three examples."""
    write_parsing(folder / "parsing")
    write_lm(folder / "lm")
    write_classification(folder / "classification")


def write_parsing(folder: Path) -> None:
    """A treebank, two parsers, a damaged file, ambiguity types of the sentences, and a parameter file of evalb."""
    bank = Treebank(SEED)
    gold = list(bank.trees(SENTENCES))
    texts = [tree_text(tree) for tree in gold]
    _lines(folder / "treebank.trees", texts)
    for name, parser in PARSERS.items():
        _lines(folder / f"{name}.trees", parsed := [tree_text(bank.parse(tree, parser)) for tree in gold])
    _lines(folder / "Broken.trees", _broken(parsed))
    rows = [f"{number},{_ambiguity(text)}" for number, text in enumerate(texts, start=1)]
    _lines(folder / "metadata.csv", ["id,ambiguity", *rows])
    _lines(folder / "usual.prm", (USUAL + "EQ_LABEL ADVP PRT").split("\n"))


def _broken(texts: Sequence[str]) -> list[str]:
    """The same with no tree on line 3, a bracket too few on line 5, and the tree of another sentence on line 7."""
    return [*texts[:2], "", texts[3], texts[4][:-1], texts[5], texts[7], *texts[7:]]


def _ambiguity(text: str) -> str:
    """Where a made-up sentence could be read in two ways: a word, or where a phrase belongs."""
    if any(f" {word})" in text for word in ("bank", "tank", "letter")):
        return "lexical"
    return "syntactic" if "(PP" in text else "none"


def write_lm(folder: Path) -> None:
    """Token counts of a reference, and two models: one by tokens, one by sentences, with a zero probability."""
    dice = random.Random(SEED)
    sizes = [dice.randint(4, 24) for _ in range(SENTENCES)]
    names = [f"s{number:02}" for number in range(1, SENTENCES + 1)]
    _records(folder / "tokens.jsonl", ({"id": name, "tokens": size} for name, size in zip(names, sizes, strict=True)))
    hard = [dice.uniform(0.5, 1.5) for _ in names]
    drawn = {
        model: [
            [-_round(dice.expovariate(1 / (mean * level))) for _ in range(size)]
            for level, size in zip(hard, sizes, strict=True)
        ]
        for model, mean in MODELS.items()
    }
    for model, lists in drawn.items():
        _records(folder / f"{model}.jsonl", ({"id": n, "logprobs": one} for n, one in zip(names, lists, strict=True)))
    sums = [
        {"id": n, "logprob": _round(math.fsum(one)), "tokens": len(one)}
        for n, one in zip(names, drawn["Beta"], strict=True)
    ]
    _records(folder / "Zero.jsonl", [{**sums[0], "logprob": "-inf"}, *sums[1:]])


def write_classification(folder: Path) -> None:
    """Which reading of ambiguous sentences was meant, two systems, and the type of ambiguity of each sentence."""
    dice = random.Random(SEED)
    names = [f"i{number:03}" for number in range(1, ITEMS + 1)]
    types = [dice.choice(AMBIGUITIES) for _ in names]
    truth = [dice.choices(READINGS, (5, 4, 2))[0] for _ in names]
    _lines(folder / "key.csv", ["id,label", *map(",".join, zip(names, truth, strict=True))])
    _lines(folder / "metadata.csv", ["id,ambiguity", *map(",".join, zip(names, types, strict=True))])
    for system, right in RIGHT.items():
        answers = [
            label if dice.random() < right[kind] else dice.choice([other for other in READINGS if other != label])
            for label, kind in zip(truth, types, strict=True)
        ]
        _lines(folder / f"{system}.csv", ["id,label", *map(",".join, zip(names, answers, strict=True))])
    misspelt = ["Both" if label == "both" else label for label in truth]
    _lines(folder / "Misspelt.csv", ["id,label", *map(",".join, zip(names, misspelt, strict=True))])


def _round(number: float) -> float:
    return round(number, 3)


def _lines(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _records(path: Path, records: Iterable[Mapping[str, object]]) -> None:
    _lines(path, (json.dumps(record) for record in records))


if __name__ == "__main__":
    write_examples(Path(sys.argv[1]))
