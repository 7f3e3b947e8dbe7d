"""Answers that are programs: each is run against its tests in a sandbox of its own, and passes or does not (L-3).

A program ends well only if the tests ran to their end and printed a word that is drawn for each call: an answer that
leaves before they begin does not pass. Tests and answer share a process, as in all such benchmarks, so an answer that
was written to deceive these very lines could; it can do nothing else, for the sandbox has no network and no files.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import InvalidInputError
from basanite.formats.records import Place, read_records
from basanite.problems import Findings, shortened
from basanite.registry import suggestion
from basanite.sandbox.box import MIB, Box, Ended, Limits
from basanite.sandbox.child import ONE_THREAD, ORDER, PYTHON, interpreter, make_call_folders
from basanite.sandbox.runner import run_boxed

RULE: Final = "L-3"
TESTS: Final = ("tests", "test", "test_list")
"""What records call their tests: Python that raises where an answer is wrong, or a list of such lines."""
ANSWERS: Final = ("code", "completion", "text", "answer")
LIMITS: Final = Limits(seconds=10, memory=1024 * MIB, output=16 * MIB, log=MIB // 16, processes=8)
DRIVER: Final = """
import json, os, sys, traceback
with open("in/order.json", encoding="utf-8") as file:
    order = json.load(file)
said = os.dup(1)
space = {"__name__": "answer"}
for part in ("code", "tests"):
    try:
        exec(compile(order[part], part, "exec"), space)
    except BaseException as error:
        words = traceback.format_exception_only(type(error), error)[-1].strip()
        os.write(2, f"\\n{part}: {words}".encode("utf-8", "replace"))
        os._exit(1)
os.write(said, order["word"].encode())
os._exit(0)
"""
PARALLEL: Final = 4


@dataclass(frozen=True)
class Tested:
    """Whether an answer passed its tests, and why not."""

    passed: bool
    reason: str = ""


@dataclass(frozen=True)
class CodeItem:
    """What an answer is run against."""

    tests: str
    entry: str = ""
    """The function that tests check, where they are given one (HumanEval)."""
    prompt: str = ""
    """The beginning of the program, for answers that only complete it."""

    def program(self, answer: str) -> str:
        """The whole program of an answer."""
        begun = not self.entry or f"def {self.entry}" in answer
        return answer if begun else f"{self.prompt}\n{answer}"

    @property
    def checks(self) -> str:
        """The tests, with the call of the function that some of them only define."""
        return f"{self.tests}\ncheck({self.entry})\n" if self.entry and "def check(" in self.tests else self.tests


def tested_answers(submission: Path, references: Sequence[Path]) -> dict[str, Tested]:
    """How each answer of a submission did; problems of both files are raised together."""
    findings = Findings(limit=20)
    items = _read_tests(references[0], findings)
    answers = _read_answers(submission, findings)
    if items is not None and answers is not None:
        _check_items(items, answers, submission.name, findings)
    if items is None or answers is None or not findings.valid:
        raise InvalidInputError("code", findings)
    with ThreadPoolExecutor(PARALLEL) as pool:
        return dict(zip(answers, pool.map(lambda name: run_tests(items[name], answers[name]), answers), strict=True))


def run_tests(item: CodeItem, answer: str, limits: Limits = LIMITS) -> Tested:
    """Run one answer against its tests, in a sandbox."""
    if not answer.strip():
        return Tested(False, "there is no code")
    word = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="basanite-code-") as name:
        folder = Path(name)
        given = make_call_folders(folder)
        (given / "driver.py").write_text(DRIVER, encoding="utf-8")
        order = {"code": item.program(answer), "tests": item.checks, "word": word}
        (given / ORDER).write_text(json.dumps(order), encoding="utf-8")
        system, out, state = (folder / part for part in ("system", "out", "state"))
        command = (PYTHON, "-I", "in/driver.py")
        ended = run_boxed(
            Box(command, system, given, out, state, reads=interpreter(), limits=limits), environment=ONE_THREAD
        )
    return _outcome(ended, word)


def _outcome(ended: Ended, word: str) -> Tested:
    if ended.good and ended.stdout.endswith(word.encode()):
        return Tested(True)
    if ended.cause:
        return Tested(False, f"the limit on {ended.cause} was reached" if ended.cause != "start" else ended.fault)
    last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return Tested(False, shortened(last[0]) if last and ended.code == 1 else "it ended before its tests did")


def _read_tests(path: Path, findings: Findings) -> dict[str, CodeItem] | None:
    """The tests by item."""
    place = Place("reference", RULE)
    records = read_records(path, place, findings)
    if records is None:
        return None
    found: dict[str, CodeItem] = {}
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        tests = next((fields[name] for name in TESTS if fields.get(name)), None)
        text = "\n".join(map(str, tests)) if isinstance(tests, list) else tests
        if not isinstance(text, str):
            fix = 'write "tests": "…" with Python that raises where an answer is wrong'
            findings.add(place.problem(records.file, line, "the item has no tests", fix, str(fields.get("id", ""))))
            continue
        more = {name: str(fields.get(key) or "") for name, key in (("entry", "entry_point"), ("prompt", "prompt"))}
        found[str(fields.get("id"))] = CodeItem(text, **more)
    return found


def _read_answers(path: Path, findings: Findings) -> dict[str, str] | None:
    """The answers by item."""
    place = Place("submission", RULE)
    records = read_records(path, place, findings)
    if records is None:
        return None
    column = next((name for name in ANSWERS if name in records.columns), "")
    if not column or "id" not in records.columns:
        fix = 'write {"id": "…", "code": "…"} in each line'
        findings.add(place.problem(records.file, None, "there are no columns id and code", fix))
        return None
    rows = [records.fields(row) for row in range(len(records))]
    return {str(row.get("id")): _text(row.get(column)) for row in rows}


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""


def _check_items(items: Mapping[str, CodeItem], answers: Mapping[str, str], file: str, findings: Findings) -> None:
    """Report answers without tests, and tests without an answer."""
    place = Place("submission", RULE)
    for name in answers.keys() - items.keys():
        fix = suggestion(name, tuple(items))
        findings.add(place.problem(file, None, f"item {shortened(name)!r} has no tests", fix, name))
    for name in items.keys() - answers.keys():
        message = f"item {shortened(name)!r} has tests and no answer"
        findings.add(place.problem(file, None, message, "answer all items, with nothing where you have no code", name))
