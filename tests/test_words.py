"""What people read uses the usual words of the field: a short list of replaced words does not come back.

A new source of sentences (help texts, messages of problems, a page of the documentation) is one more entry of SOURCES.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "basanite"
REPLACED = {
    r"\b(?:make|begin|begins|began|begun|computed|signed in|planned) anew\b": "again, resets",
    r"\bwhoever\b": "rewrite the sentence",
    r"\bhow manieth\b": "rewrite the sentence",
    r"\bstood behind\b": "no reliable interval",
    r"\btold apart\b": "not significantly different",
    r"\b(?:a|the|its|no|this) cure\b": "fix",
    r"\bmend(?:ed|s|ing)?\b": "fix",
    r"\btruth\b": "reference",
    r"\bTo do:": "Fix:",
    r"\bActs? (?:of|that take) two people\b": "two-person approvals",
    r"\bdesk\b": "dashboard",
    r"\bstrangers?\b": "untrusted",
    r"\bin a box\b|\bboxed\b|\bno box\b": "sandbox",
    r"\bTokens for programs\b": "API tokens",
    r"\bNot yet\b(?=.{0,3}$)": "Cancel",
    r"\bLet it hold\b|\bGive it$|\bTake away\b|\bTake it away\b": "activate, grant, revoke",
    r"\bLet it close later\b|\bcloses later\b": "extend the deadline",
    r"\bmake an account\b": "create account",
    r"\bmail address": "email address",
    r"\b(?:a|your|this) mail\b": "an email",
    r"\borganis(?:e|es|ed|er|ers|ing|ation)\b": "organize",
    r"\bjudgement": "judgment",
    r"\bcolour": "color",
    r"\bcancelled\b": "canceled",
    r"\bprogramme\b": "program",
    r"\b[0-9]+ %": "95% without a space",
    r"\b95% interval": "95% CI",
    r"\b(?:stands?|comes?) twice\b": "appears twice",
    r"\bexists? already\b|\b(?:is|are) there already\b": "already exists",
    r"\b(?:one|object|label|word|record|rule|segment|sentence|name|fields) a line\b": "per line",
    r"\bso many (?:documents|queries|judges|source|target|rounds|values|days)\b": "this many",
    r"\bpassed over\b": "ignored",
    r"\bitems that tell nothing\b": "uninformative items",
    r"\bmade-up\b": "synthetic",
    r"\bwhat becomes of\b": "how to treat",
    r"\bever written over\b": "never overwritten",
    r"\b(?:made|scored) alike\b": "in the same way",
    r"\bprober\b": "attacker",
    r"\bwhat (?:judges said|people answered)\b": "judgments, human answers",
    r"\brepeat it\.": "Can be repeated.",
    r"\btold in a (?:warning|note)\b": "reported in a warning",
    r"\bstands (?:in `|beside it|outside|where)\b": "is in, is shown with it",
    r"\bno season\b|\bdemo season\b|\bthe season (?:is|runs)\b": "campaign, demo",
}
"""Words that were replaced, and what is written instead."""
KEPT = {"Not yet", "not yet"}
"""States that have not been reached, which are no buttons."""
NOWHERE = r"\b(?:how manieth|whoever|st(?:oo|an)ds? behind|told apart|in hand|anew|mend(?:ed|s|ing)?)\b"
"""Words that neither readers nor developers meet: also not in comments, docstrings and names."""
READ = (
    "src/**/*.py",
    "src/**/*.html",
    "src/**/*.js",
    "tools/**/*.py",
    "tests/**/*.py",
    "docs/**/*.md",
    "*.md",
    "Makefile",
)
SPELLED = {
    "tests/test_words.py",
    "docs/adr/0011-metrics-computed-anew.md",
    "src/basanite/server/pages/annotation_data.py",
}
"""This list, a page whose address is its title, and a key between a page and its script."""
CODE = re.compile(r"```.*?```|^    .*?$|`[^`]*`|\]\([^)]*\)|^[>$].*?$", re.S | re.M)


def sentences_of_pages() -> Iterator[str]:
    """What pages say."""
    yield from tomllib.loads((SOURCE / "server/catalogue.toml").read_text("utf-8"))["sentences"].values()


def mails() -> Iterator[str]:
    """Subjects and bodies of all mails, without what is filled in."""
    for one in tomllib.loads((SOURCE / "campaign/notices/catalogue.toml").read_text("utf-8")).values():
        yield from (re.sub(r"\$\w+", "", one[part]) for part in ("subject", "body"))


def refusals() -> Iterator[str]:
    """What campaigns and the server answer where something is not possible."""
    for folder in ("campaign", "server"):
        for path in sorted((SOURCE / folder).rglob("*.py")):
            for call in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(call, ast.Call) and _name(call.func) in REFUSING:
                    yield from (text for one in call.args for text in _texts(one))


def command_texts() -> Iterator[str]:
    """What commands, problems and reports write: every text of the source but its docstrings."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        explained = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explained:
                yield re.sub(r"--judgements|`judgements`|JUDGEMENTS", "", node.value) if " " in node.value else ""


def documentation() -> Iterator[str]:
    """README, changelog and pages without their code; decisions are history."""
    for path in sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))):
        if "adr" not in path.parts:
            yield from CODE.sub("", path.read_text("utf-8")).splitlines()


REFUSING = {
    "refused",
    "missing",
    "no_reason",
    "Problem",
    "problem",
    "_problem",
    "WrongError",
    "TimeError",
    "BackupError",
}
SOURCES: dict[str, Callable[[], Iterator[str]]] = {
    "pages": sentences_of_pages,
    "mails": mails,
    "refusals": refusals,
    "commands": command_texts,
    "documentation": documentation,
}
ALLOWED = {
    "documentation": {
        "| reference | the correct answers, in versions; also called answer key, key, gold, or ground truth |": "",
        "| truth values | , , , ,  | other words |": "booleans",
        "[table of units or its path. Truth values are shares": "booleans",
    },
    "commands": {
        "'rescoring.cancelled reference.refused'": "kinds of events keep their names",
        "there is nothing to do: it is already a submission": "no heading",
        "organizer organizers organiser organisers administrator administrators admin moderator": "reserved",
        " is not a table of actions. Write shares of new data, rising from 0, each with what to do: ": "no heading",
        "rescoring.cancelled reference.refused": "kinds of events keep their names",
        "scope organise without a second factor": "the name of a scope",
        " has no box for inferred": "a box to tick",
        "score e2e KEY {path} --judgements JUDGEMENTS.tsv": "the name of an option",
    },
}
"""Texts in which such a word is right, and why."""


@pytest.mark.parametrize("source", SOURCES)
def test_replaced_words_do_not_come_back(source):
    sentences = [text for text in SOURCES[source]() if text not in KEPT and text not in ALLOWED.get(source, {})]
    assert sum(" " in text for text in sentences) > 30, "the source is read"
    suspects = [text for text in sentences if re.search("|".join(REPLACED), text, re.I)]
    assert [
        (found[0], instead, text)
        for word, instead in REPLACED.items()
        for text in suspects
        if (found := re.search(word, text, re.I))
    ] == []


def test_words_that_nobody_should_meet_stand_nowhere():
    files = sorted({path for pattern in READ for path in ROOT.glob(pattern) if path.is_file()})
    assert len(files) > 500, "the files are found"
    assert [
        f"{path.relative_to(ROOT)}:{number}: {found[0]}"
        for path in files
        if str(path.relative_to(ROOT)) not in SPELLED
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if (found := re.search(NOWHERE, line, re.I))
    ] == []


def _name(function: ast.expr) -> str:
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def _texts(value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.JoinedStr):
        yield "".join(part.value for part in value.values if isinstance(part, ast.Constant))
