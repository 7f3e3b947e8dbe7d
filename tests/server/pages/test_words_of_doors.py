"""Pages and mails speak of pages, commands of commands: a cure depends on the door through which its reader came."""

from __future__ import annotations

import ast
import csv
import html
import io
import re
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.server.pages.test_participant import HOME, send_run

import basanite
from basanite.campaign.jobs import stages
from basanite.campaign.notices.messages import catalogue as mails
from basanite.campaign.store.tables import Submission
from basanite.formats.archives.output import write_archive
from basanite.server import catalogue

TYPED = re.compile(r"(?<![\w-])--[a-z]|`?basanite (?!server)[a-z]+ ?")
"""An option, or a command of ours."""
SOURCE = Path(basanite.__file__).parent
OFFLINE = (
    "cli",  # the command line itself
    "clusters",
    "campaign/moves",  # `import` of other platforms
    "models",  # `run`, `canary` and `judge by-model`
    "work/human_sample.py",  # `judge calibrate` alone
    "demo",
    "formats/inspection.py",  # what `inspect` prints
    "formats/kinds",
    "formats/scores",  # options of the programs that write logs
    "harness",
    "scoring.py",
    "tasks/settings.py",  # settings of the analysis, which a campaign file has by other names
    "representation",
    "reports",
    "server/checkup.py",  # what `doctor` prints
    "testing",
    "tasks/retrieval/mistakes.py",  # `explore` alone
    "reading/reasoner/session.py",  # `reading infer` and its like
    "reading/reasoner/explanation_files.py",
    "reading/reasoner/plain.py",
    "reading/reasoner/why_not.py",
    "reading/reasoner/clingo_child.py",  # another program's options
    "reading/rules/checks.py",
    "reading/package/documents.py",  # packages are registered where they are made
    "reading/rdf.py",
    "formats/texts/external_scores.py",
    "formats/texts/transcript_records.py",
    "formats/texts/wmt.py",
    "formats/texts/wmt_files.py",
    "formats/retrieval/trec_conversion.py",
    "formats/retrieval/trec.py",
    "formats/retrieval/trec_lines.py",
    "work/segments.py",  # `judge systems` alone
    "work/mqm.py",
    "work/direct_assessment.py",
    "work/appraise.py",
    "work/panel_files.py",  # how files that are taken home are scored there
    "campaign/receipts.py",  # told to anyone who runs the server
    "campaign/store/schema.py",
    "campaign/archive",
)
"""Where words are for people at a terminal; everything else may be read on a page."""
MISUSE = {"SettingError", "UnreadableError"}
"""What is raised over words typed at a terminal, and never shown by the server."""


def broken_archive(pack, folder):
    """A submission with nearly every mistake that lines and archives can have."""
    whole = {path.name: path.read_bytes() for path in sorted(pack.key.glob("*.tsv"))}
    answers = {name: data.replace(b"\n", b"\t0.5\n") for name, data in whole.items()}
    first, second, third, *rest = answers
    answers[first] = answers[first].replace(b"\t0.5\n", b"\t1\n")
    answers[second] = b"\xef\xbb\xbf" + answers[second].replace(b"\n", b"\r\n")
    answers[third] = whole[third]
    for name in rest[:1]:
        answers[name] = b"\n" + answers[name].removesuffix(b"\n").replace(b"\tN", b"\tn") + b"\nnobody\tN\t0.5"
    members = [*answers.items(), ("inside/query00001.tsv", b"x"), ("query99999.tsv", b"x\n"), ("notes.txt", b"x")]
    write_archive(members, folder / "broken.tgz")
    return folder / "broken.tgz"


@pytest.fixture
def broken(visit, stage, pack, tmp_path):
    """The page of a run that is not valid, seen by its team."""
    browser = visit("ada")
    send_run(browser, broken_archive(pack, tmp_path).read_bytes())
    with stage.office.reading() as session:
        run = session.scalars(select(Submission.id)).one()
    assert stages.validate(stage.office, run)["state"] == "invalid"
    return browser, f"{HOME}/submissions/{run}"


@pytest.mark.req("D-8")
def test_the_page_of_an_invalid_run_names_nothing_to_type(broken):
    browser, address = broken
    page = browser.get(address)
    assert {"M22", "M25", "M27", "M28", "M29", "M53"} <= set(re.findall(r"M[0-9]{2}", page.text))
    assert TYPED.findall(html.unescape(re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", page.text, flags=re.S))) == []


@pytest.mark.req("D-7")
def test_all_problems_can_be_taken_home_and_what_is_not_listed_is_counted_by_rule(broken, visit):
    browser, address = broken
    page = browser.get(address)
    counts = {rule: int(count) for rule, count in re.findall(r"(M[0-9]{2}) × ([0-9]+)", page.text)}
    assert re.search(
        r"[0-9]+ of [0-9]+ shown here\.", html.unescape(page.text).replace("\u2068", "").replace("\u2069", "")
    )
    table = browser.get(f"{address}/problems.csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert len(rows) == sum(counts.values()) > 40
    assert {rule: sum(row["rule"] == rule for row in rows) for rule in counts} == counts
    assert table.headers["Content-Disposition"] == 'attachment; filename="problems-1.csv"'
    assert visit("bea").get(f"{address}/problems.csv").status_code == 404


@pytest.mark.parametrize("name", sorted(mails()))
def test_no_mail_names_anything_to_type(name):
    assert TYPED.findall(f"{mails()[name].subject} {mails()[name].body}") == []


def test_no_sentence_of_the_interface_names_anything_to_type():
    assert [text for text in catalogue.catalogue().values() if TYPED.search(text)] == []


def typed_words(path):
    """What a module says that must be typed, outside its docstrings, hints and complaints about words that were."""
    written = path.read_text(encoding="utf-8")
    if "--" not in written and "basanite " not in written:  # most modules need not be taken apart
        return []
    tree = ast.parse(written)
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            given = node.args if name in MISUSE | {"with_hint"} else []
            given = [*given, *(word.value for word in node.keywords if word.arg in ("hint", "commands"))]
            passed |= {id(part) for one in given for part in ast.walk(one)}
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and "hint" in ast.unparse(targets[0]).lower():
            passed |= {id(part) for part in ast.walk(node.value)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [text.value for text in texts if id(text) not in passed and TYPED.search(text.value)]


def test_no_cure_outside_the_command_line_names_anything_to_type():
    modules = [path for path in SOURCE.rglob("*.py") if not str(path.relative_to(SOURCE)).startswith(OFFLINE)]
    assert len(modules) > 300
    found = {str(path.relative_to(SOURCE)): words for path in modules if (words := typed_words(path))}
    assert found == {}
