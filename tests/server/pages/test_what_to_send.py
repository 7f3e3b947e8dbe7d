"""What to send: the submit page shows the format of each task, and looks at a file before it is uploaded (P-42)."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from html import unescape

import pytest
from tests.cli.running import here
from tests.doors.examples import BY_TASK
from tests.server.pages.test_participant import HOME

from basanite.server.pages import submit

JS = """async ([bytes, name, content, largest]) => {
  const { checkFile } = await import("/static/submit/file_check.js");
  const found = await checkFile(new File([new Uint8Array(bytes)], name), { largest, content });
  return [found.refused ?? "", found.cautions.map(([code]) => code)];
}"""


@pytest.fixture(scope="module")
def answers():
    """What `basanite tasks` says to send, by task."""
    return {task["name"]: task["answers"] for task in json.loads(here("tasks", "--json").stdout)["tasks"]}


def first_text(task, answers):
    """The shipped submission of a task, or the file of its archive that the example is from."""
    path = BY_TASK[task].path(task, BY_TASK[task].submission)
    if not answers["file"]:
        return path.read_text(encoding="utf-8")
    with tarfile.open(path) as archive:
        return archive.extractfile(answers["file"]).read().decode()


@pytest.mark.req("P-42")
@pytest.mark.parametrize("task", BY_TASK)
def test_each_task_shows_the_beginning_of_its_shipped_submission(answers, task):
    said = answers[task]
    assert said["words"].endswith(".")
    if task == "representation":  # arrays, which have no lines
        assert said["example"] == ""
        return
    assert said["example"].endswith("\n")
    assert first_text(task, said).startswith(said["example"])


@pytest.mark.req("P-42")
def test_the_submit_page_shows_window_format_and_example_without_scripts(visit, stage, answers):
    page = unescape(visit("ada").get(f"{HOME}/submit").text)
    section = page.partition('id="what-to-send"')[2].partition("</section>")[0]
    assert "Development on DEV" in section
    assert answers["clir"]["example"] in section
    assert "query04276.tsv" in section
    assert ".tgz archive" in section


@pytest.fixture(scope="module")
def check(shown):
    """Looks at a file in the browser: whether it is refused, and what is noted."""
    tab = shown(submit.SubmitPage, "none")

    def checked(name, content, takes="text", largest=2**30):
        return tab.evaluate(JS, [list(content), name, takes, largest])

    return checked


@pytest.mark.browser
@pytest.mark.req("P-42", case="good")
def test_no_shipped_submission_is_warned_of(check, answers):
    for task, example in BY_TASK.items():
        path = example.path(task, example.submission)
        content = path.read_bytes()
        assert check(path.name, content, answers[task]["content"]) == ["", []], task
        if answers[task]["content"] == "text":
            packed = gzip.compress(content)
            assert check(f"{path.name}.gz", packed) == ["", []], "a packed file is taken, too"


def zipped(*names):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return held.getvalue()


ROWS = b"id,text\na1,hello\n"
HOSTILE = (
    ("run.csv", b"", "text", "empty", []),
    ("run.csv", b"x" * 101, "text", "large", []),
    ("run.tgz", ROWS, "archive", "", ["archive"]),
    ("run.tgz", zipped("a.tsv"), "archive", "", ["archive"]),
    ("run.csv", b"%PDF-1.7 ...", "text", "", ["kind"]),
    ("run.xlsx", zipped("[Content_Types].xml"), "text", "", ["kind"]),
    ("run.csv.gz", ROWS, "text", "", ["ending"]),
    ("run.csv", "id,text\n".encode("utf-16"), "text", "", ["kind"]),
    ("run.csv", "id,text\na1,caf\xe9\n".encode("latin-1"), "text", "", ["utf8"]),
    ("run.csv", b"id\0text\n", "text", "", ["binary"]),
    ("run.txt", b" \n\n", "text", "", ["blank"]),
    ("run.jsonl", b'{"id": "a1", "text": \n{"id"', "text", "", ["json-line"]),
    ("run.json", b'[{"id": 1},\n', "text", "", ["json"]),
    ("run.json", b'{"id": "a1"}\n{"id": "a2"}\n', "text", "", []),
    ("run.jsonl", b'{"id": "a1", "logprob": -Infinity}\n', "text", "", []),
    ("run.bin", b"\0\1\2", "any", "", []),
    ("cut.csv", b"id,text\n" + "é".encode() * 5, "text", "", []),
)


@pytest.mark.browser
@pytest.mark.req("P-42", case="bad")
@pytest.mark.parametrize(("name", "content", "takes", "refused", "noted"), HOSTILE)
def test_what_looks_wrong_with_a_file_is_told_before_the_upload(check, name, content, takes, refused, noted):
    largest = 100 if refused == "large" else 2**30
    assert check(name, content, takes, largest) == [refused, noted]


@pytest.mark.browser
def test_a_letter_cut_by_the_end_of_the_first_part_is_no_fault(check):
    assert check("run.txt", b"x" + "é".encode() * 40_000) == ["", []]
