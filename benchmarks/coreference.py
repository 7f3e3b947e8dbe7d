"""Coreference of 200 documents in the columns of CoNLL-2012: us and coval, the common scorer in Python, same files.

Each runs in a process of its own; what counts is the CPU time of reading both files and of all values, not of imports.
We also check the files and give CEAF-m and BLANC, which coval does not. coval is not in the package index: name a
folder with its source (github.com/ns-moosavi/coval) by `--peer`. MUC, B-cubed, CEAF-e and LEA must be equal to 1e-9.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

from measuring import best, record, show

HERE = Path(__file__).parent
DOCUMENTS, WORDS, SENTENCE, ENTITIES, SEED = 200, 480, 24, 30, 5
GOALS = {
    "coval / us, CPU of reading and scoring": (5.0, "at least"),
    "4 times the documents / documents, our CPU": (4.0 * 1.5, "at most"),
}

US = """
import json, sys, time
from pathlib import Path
from basanite.problems import Findings
from basanite.scoring import find_task, read_inputs, score_submission, validate_submission
from basanite.tasks import Inputs
task = find_task("coreference")
start = time.process_time()
findings = Findings()
inputs = Inputs(Path(sys.argv[2]), Path(sys.argv[1]), None, None, ())
opened = read_inputs(task, inputs, {"singletons": "yes"}, findings)
validate_submission(opened, findings)
assert findings.valid, list(findings)
scores = score_submission(opened, system="us")
values = {one.name: one.of(scores.tables[one.name].rows) for one in scores.metrics if one.name in scores.tables}
print(json.dumps({"evaluating": time.process_time() - start, "values": values}))
"""
PEER = """
import contextlib, json, sys, time
sys.path.insert(0, sys.argv[3])
from coval.conll import reader
from coval.eval import evaluator
measures = {"muc": evaluator.muc, "b3": evaluator.b_cubed, "ceafe": evaluator.ceafe, "lea": evaluator.lea}
start = time.process_time()
with contextlib.redirect_stdout(sys.stderr):
    found = reader.get_coref_infos(sys.argv[1], sys.argv[2], False, False, True, False)
values = {name: float(evaluator.evaluate_documents(found, one, beta=1)[2]) for name, one in measures.items()}
print(json.dumps({"evaluating": time.process_time() - start, "values": values}))
"""


def marked(spans, words):
    """The column of entities for a list of (first, last, entity)."""
    cells = [[] for _ in range(words)]
    for first, last, entity in spans:
        if first == last:
            cells[first].append(f"({entity})")
        else:
            cells[first].insert(0, f"({entity}")
            cells[last].append(f"{entity})")
    return ["|".join(cell) or "-" for cell in cells]


def document(dice, at):
    """The lines of a document, and of what a system makes of it: it misses, moves and confuses mentions."""
    places = sorted(dice.sample(range(WORDS // 4), WORDS // 6))
    gold, answers = [], []
    for place in places:
        first, last, entity = 4 * place, 4 * place + dice.randint(0, 2), dice.randrange(ENTITIES)
        gold.append((first, last, entity))
        if dice.random() > 0.15:
            end = last if dice.random() > 0.1 else min(last + 1, 4 * place + 3)
            answers.append((first, end, entity if dice.random() > 0.2 else dice.randrange(ENTITIES)))
    for spans in (gold, answers):
        lines = [f"#begin document (d{at}); part 000"]
        for word, cell in enumerate(marked(spans, WORDS)):
            lines.append(f"d{at}\t0\t{word % SENTENCE}\tw{word}\tNN\t{cell}")
            if word % SENTENCE == SENTENCE - 1:
                lines.append("")
        yield "\n".join([*lines, "#end document", ""])


def ready(documents):
    """The two files of one size, made now if they are not there."""
    folder = HERE.parent / "build" / "data" / f"coreference-{documents}-{SEED}"
    files = [folder / f"{name}.conll" for name in ("gold", "answers")]
    if not files[-1].exists():
        folder.mkdir(parents=True, exist_ok=True)
        dice = random.Random(SEED)
        sides = zip(*(document(dice, at) for at in range(documents)), strict=True)
        for side, file in zip(sides, files, strict=True):
            file.write_text("\n".join(side), encoding="utf-8")
    return [str(file) for file in files]


def middle(name, command, repeat):
    """The run with the middle CPU time of reading and scoring, and the times of all runs."""
    costs = [best(name, command, 1) for _ in range(repeat)]
    costs.sort(key=lambda cost: json.loads(cost.output)["evaluating"])
    return costs[len(costs) // 2], [round(json.loads(cost.output)["evaluating"], 3) for cost in costs]


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", required=True, help="a folder with the source of coval")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the documents, for a quick run")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each contender; the middle one counts")
    return parser.parse_args()


def main():
    """Make the documents, run everything, show and record."""
    asked = arguments()
    documents = max(round(DOCUMENTS * asked.scale), 4)
    files, more = ready(documents), ready(4 * documents)
    commands = {
        "us": [sys.executable, "-c", US, *files],
        "us x4": [sys.executable, "-c", US, *more],
        "coval": [sys.executable, "-c", PEER, *files, asked.peer],
    }
    runs = {name: middle(name, command, asked.repeat) for name, command in commands.items()}
    told = {name: json.loads(cost.output) for name, (cost, _) in runs.items()}
    spent = {name: one["evaluating"] for name, one in told.items()}
    found = dict(zip(GOALS, (spent["coval"] / spent["us"], spent["us x4"] / spent["us"]), strict=True))
    show(found, GOALS)
    ours, theirs = told["us"]["values"], told["coval"]["values"]
    same = all(abs(ours[name] - value) < 1e-9 for name, value in theirs.items())
    print(f"values: {'equal' if same else f'WRONG: {ours} against {theirs}'}")
    every = {name: seconds for name, (_, seconds) in runs.items()}
    costs = {name: cost for name, (cost, _) in runs.items()}
    record("coreference.jsonl", {"documents": documents}, costs, found, GOALS, every_run=every, equal=same)
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
