"""Two systems that add: `terse` is right more often, `wordy` explains itself at length: python make.py FOLDER"""

import csv
import json
import sys
from pathlib import Path

from judge import share

QUESTIONS = 300
RIGHT = {"terse": 0.82, "wordy": 0.60}
KINDS = ("small", "large")


def answer(system, first, second, number):
    """What a system answers to a sum."""
    right = share(system, str(number)) < RIGHT[system]
    total = first + second + (0 if right else 1 + number % 9)
    if system == "terse":
        return f"{total}"
    return f"Adding {second} to {first} digit by digit, and carrying where it is needed, gives {total}"


folder = Path(sys.argv[1])
rows, answers = [], {system: [] for system in RIGHT}
for number in range(QUESTIONS):
    kind = KINDS[number % 2]
    first, second = (int(share(side, str(number)) * (90 if kind == "small" else 9000)) + 10 for side in "ab")
    for system in RIGHT:
        text = answer(system, first, second, number)
        rows.append((f"q{number:03d}", system, kind, f"What is {first} plus {second}?", text))
        answers[system].append({"id": f"q{number:03d}", "text": text})
with open(folder / "answers.csv", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["id", "system", "kind", "query", "text"])
    writer.writerows(rows)
for system, lines in answers.items():
    (folder / f"{system}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
