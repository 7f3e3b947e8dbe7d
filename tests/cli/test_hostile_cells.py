"""Cells that no reader wants, in the files of every task that takes one file: each gets a message that fits it (D-12).

Numbers too large, columns of nan, bytes that are no text: `validate` lists problems or finds nothing wrong, and what it
finds valid can be scored. Nobody ever reads the words of a Python exception.
"""

from __future__ import annotations

import re
import shutil

import pytest
from tests.cli.running import ROOT, here

EXAMPLES = ROOT / "examples"
FILES = {
    "captions": ("captions.json", "Alpha.json", rb'(?<="caption": )"[^"]*"'),
    "classification": ("key.csv", "Alpha.csv", rb"(?<=\d,)\w+"),
    "labels": ("reference.csv", "alpha.csv", rb"(?<=,)[\d.]+"),
    "lm": ("tokens.jsonl", "Alpha.jsonl", rb'(?<=\[)-[\d.]+|(?<="tokens": )\d+'),
    "parsing": ("treebank.trees", "Alpha.trees", rb"(?<=\(NN )\w+"),
    "questions": ("annotations.json", "Alpha.json", rb'(?<="answer": )"[^"]*"'),
    "ranking": ("qrels.txt", "alpha.run", rb"-?[\d.]+(?= alpha|\n)"),
    "ratings": ("reference.csv", "alpha.csv", rb"(?<=,)[\d.]+"),
    "readability": ("panels.csv", "machine.csv", rb"(?<=,)[\d.]+(?=\n|,newswire)"),
    "relevance": ("reference.csv", "alpha.csv", rb"(?<=,)\w[^,\n]*(?=\n|,What)"),
    "speech": ("reference.stm", "Alpha.ctm", rb"(?<= )\d\.\d\d"),
    "summaries": ("reference.jsonl", "Alpha.jsonl", rb'(?<="text": )"[^"]*"|(?<="references": \[)"[^"]*"'),
    "translation": ("reference.jsonl", "Alpha.jsonl", rb'(?<="text": )"[^"]*"|(?<="references": \[)"[^"]*"'),
}
"""By task: the reference and the submission of its example, and where in them a cell stands."""
CELLS = {
    "nan": b"nan",
    "NaN in JSON": b"NaN",
    "too large for a number": b"1e400",
    "as large as a number can be": b"-1e308",
    "a list of such": b"[-1e308, -1e308]",
    "thousands of digits": b"9" * 5000,
    "thousands of digits as text": b'"' + b"9" * 5000 + b'"',
    "no UTF-8": b"\xff\xfe",
    "a NUL byte": b"a\0b",
    "half a character": b'"\\ud800"',
    "an open quote": b'"',
    "nothing": b"",
    "null": b"null",
    "truth": b"true",
    "nested deeply": b"(" * 2000 + b"[" * 2000,
    "very long": b"x" * 200_000,
    "other digits": "٣²Ⅷ".encode(),
}
WORDS_OF_PYTHON = re.compile(
    r"Traceback|could not convert|invalid literal|Exceeds the limit|codec can't|Expecting |Extra data|Unterminated"
    r"|Invalid control|int too large|Numerical result|field larger|unexpected end of data|line contains NUL"
    r"|object is not|not subscriptable|NoneType|must be str|Error\(|math range|Errno|out of range"
)


@pytest.fixture
def place(tmp_path, request):
    """A copy of the example of a task, its files, and how to put something else into their cells."""
    task = request.param
    shutil.copytree(EXAMPLES / task, tmp_path / task)
    return tmp_path / task


def run(command, task, folder, *more):
    reference, submission, _ = FILES[task]
    return here(command, task, "--reference", reference, "--submission", submission, *more, cwd=folder)


@pytest.mark.few(40)
@pytest.mark.req("D-12")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("place", FILES, indirect=True, ids=list(FILES))
def test_a_hostile_cell_gets_a_message_that_fits_it(place, cell):
    task = place.name
    *files, pattern = FILES[task]
    for file in files:
        whole = (place / file).read_bytes()
        for times in (1, 0):
            if not times and cell == "very long":
                continue  # one is as bad as many, and many take their time
            (place / file).write_bytes(re.sub(pattern, lambda _: CELLS[cell], whole, count=times))
            assert (place / file).read_bytes() != whole
            found = run("validate", task, place)
            scored = run("score", task, place, "--draws", "5") if found.code == 0 else found
            for ended in (found, scored):
                assert ended.code in (0, 1), ended.stderr
                assert not WORDS_OF_PYTHON.search(ended.stdout + ended.stderr), ended.stderr
        (place / file).write_bytes(whole)
