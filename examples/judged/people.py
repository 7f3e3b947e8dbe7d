"""Simulated people: three judge each answer, and each errs once in thirty: python people.py IN.csv OUT.csv"""

import csv
import re
import sys

from judge import share

with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
with open(sys.argv[2], "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["id", "system", "judge", "correct"])
    for row in rows:
        first, second = map(int, re.findall(r"[0-9]+", row["query"])[:2])
        right = int(re.findall(r"[0-9]+", row["text"])[-1]) == first + second
        for person in ("ann", "bob", "cleo"):
            errs = share(person, row["id"], row["system"]) < 1 / 30
            writer.writerow([row["id"], row["system"], person, "yes" if right != errs else "no"])
