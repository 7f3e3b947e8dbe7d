"""The values of the CoNLL 2018 shared task on 2,000 sentences: us and a plain Python scorer, same files.

Each runs in a process of its own; what counts is the CPU time of reading both files and of all thirteen values, without
imports. The sentences have 8 to 30 words; one word in thirty is of a token of two words. All counts must be equal. The
published script itself can be named with `--script conll18_ud_eval.py`, and is then run on the same files too.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

from measuring import best, record, show

HERE = Path(__file__).parent
SENTENCES, SEED = 2000, 5
RELATIONS = [
    *("nsubj", "obj", "obl", "nmod", "amod", "advmod", "conj", "acl:relcl", "det", "case", "punct", "aux", "cop"),
    *("mark", "cc", "nsubj:pass", "compound"),
]
FEATURES = [
    *("_", "Number=Sing", "Case=Nom|Number=Plur", "Definite=Def|PronType=Art", "Own=1"),
    "Mood=Ind|Tense=Past|VerbForm=Fin",
]
SHARE = 0.12
GOALS = {
    "plain Python / us, CPU of reading and scoring": (5.0, "at least"),
    "4 times the sentences / sentences, our CPU": (4.0 * 1.5, "at most"),
}

US = """
import json, sys, time
from pathlib import Path
from basanite.formats.records import Place
from basanite.formats.texts.conllu import read_treebank
from basanite.metrics.text.dependencies import METRICS, Parses, counts_of, statistics
from basanite.problems import Findings
start = time.process_time()
place, findings = Place("reference", "T-17"), Findings()
gold, answers = (read_treebank(Path(path), place, findings) for path in sys.argv[1:3])
rows = statistics(Parses(gold, answers))
counts = {one.name: counts_of(rows, one.name) for one in METRICS}
values = {one.name: one.of(rows) for one in METRICS}
spent = time.process_time() - start
shown = {name: [one["correct"], one["gold"], one["predicted"]] for name, one in counts.items()}
print(json.dumps({"evaluating": spent, "counts": shown}))
"""
SCRIPT = """
import importlib.util, json, sys, time
spec = importlib.util.spec_from_file_location("script", sys.argv[3])
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
start = time.process_time()
found = script.evaluate(*(script.load_conllu_file(path) for path in sys.argv[1:3]))
spent = time.process_time() - start
counts = {name.lower(): [one.correct, one.gold_total, one.system_total] for name, one in found.items()}
print(json.dumps({"evaluating": spent, "counts": counts}))
"""


def sentence(dice):
    """The lines of a sentence, and of what a parser makes of it."""
    size = dice.randint(8, 30)
    heads = [0, *(dice.randint(1, at) for at in range(1, size))]
    gold, answers, joined = [], [], 0
    for at in range(1, size + 1):
        form = "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(1, 9)))
        relation = "root" if at == 1 else dice.choice(RELATIONS)
        cells = [form, form, dice.choice(("NOUN", "VERB", "DET")), dice.choice(("NN", "VB")), dice.choice(FEATURES)]
        whole = at < size and at > joined and dice.random() < 1 / 60
        joined = at + 1 if whole else joined
        other = [one if dice.random() > SHARE / 4 else "x" for one in cells[1:]]
        head = heads[at - 1] if dice.random() > SHARE or at < 3 else dice.randint(1, at - 1)
        wrong = relation if dice.random() > SHARE or at == 1 else dice.choice(RELATIONS)
        for lines, row in ((gold, [*cells, heads[at - 1], relation]), (answers, [form, *other, head, wrong])):
            if whole:
                lines.append("\t".join([f"{at}-{at + 1}", f"{form}x", *"________"]))
            lines.append("\t".join([str(at), *map(str, row), "_", "_"]))
    return gold, answers


def ready(sentences):
    """The two files of one size, made now if they are not there."""
    folder = HERE.parent / "build" / "data" / f"conllu-{sentences}-{SEED}"
    files = [folder / f"{name}.conllu" for name in ("gold", "answers")]
    if not files[-1].exists():
        folder.mkdir(parents=True, exist_ok=True)
        dice = random.Random(SEED)
        made = [sentence(dice) for _ in range(sentences)]
        for side, file in enumerate(files):
            blocks = (
                f"# sent_id = s{at}\n# text = made up\n" + "\n".join(one[side]) + "\n\n" for at, one in enumerate(made)
            )
            file.write_text("".join(blocks), encoding="utf-8")
    return [str(file) for file in files]


def least(name, command, repeat):
    """The run with the least CPU time of reading and scoring."""
    costs = [best(name, command, 1) for _ in range(repeat)]
    return min(costs, key=lambda cost: json.loads(cost.output)["evaluating"])


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the sentences, for a quick run")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each contender; the one with least CPU counts")
    parser.add_argument("--script", help="the published script, to be run on the same files")
    return parser.parse_args()


def main():
    """Make the sentences, run everything, show and record."""
    asked = arguments()
    sentences = max(round(SENTENCES * asked.scale), 20)
    files, more = ready(sentences), ready(4 * sentences)
    costs = {
        "us": least("us", [sys.executable, "-c", US, *files], asked.repeat),
        "us x4": least("us, 4 times as many", [sys.executable, "-c", US, *more], asked.repeat),
        "peer": least("plain Python", [sys.executable, str(HERE / "peers" / "plain_conllu.py"), *files], asked.repeat),
    }
    if asked.script:
        command = [sys.executable, "-c", SCRIPT, *files, asked.script]
        costs["script"] = least("the published script", command, asked.repeat)
    told = {name: json.loads(cost.output) for name, cost in costs.items()}
    spent = {name: one["evaluating"] for name, one in told.items()}
    found = dict(zip(GOALS, (spent["peer"] / spent["us"], spent["us x4"] / spent["us"]), strict=True))
    show(found, GOALS)
    for name, seconds in spent.items():
        print(f"reading and scoring, {name}: {seconds:.3f} s CPU")
    ours = told["us"]["counts"]
    same = all(ours[name] == one["counts"][name] for key, one in told.items() if key != "us x4" for name in ours)
    print(f"counts: {'equal' if same else 'WRONG'}")
    record("conllu.jsonl", {"sentences": sentences}, costs, found, GOALS, evaluating=spent, equal=same)
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
