"""What a use case cost is logged line by line, never rewritten, and summed."""

import json

import pytest
from tests.cli.running import here
from tests.reading.packages import small_package

from basanite.errors import SettingError
from basanite.problems import Findings
from basanite.reading.effort import Effort, add_effort, effort_sums, read_effort


def test_work_is_added_at_the_end_and_nothing_else_changes(tmp_path):
    path = tmp_path / "effort.ndjson"
    add_effort(path, Effort("nfl", "annotation", 30, "2026-01-31", annotations=20))
    first = path.read_bytes()
    add_effort(path, Effort("nfl", "annotation", 15.5, "2026-02-01", "A1", 2, 11, "second day"))
    assert path.read_bytes().startswith(first)
    findings = Findings()
    assert read_effort(path, findings)[1] == Effort("nfl", "annotation", 15.5, "2026-02-01", "A1", 2, 11, "second day")
    assert findings.problems == []


def test_a_log_without_a_final_line_end_is_not_spoiled(tmp_path):
    path = tmp_path / "effort.ndjson"
    add_effort(path, Effort("nfl", "rules", 30, "2026-01-31"))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    add_effort(path, Effort("nfl", "rules", 10, "2026-01-31"))
    assert len(read_effort(path, Findings())) == 2


def test_time_and_annotation_are_summed_by_use_case_and_activity():
    log = [
        Effort("nfl", "rules", 10, "2026-01-01"),
        Effort("bio", "annotation", 60, "2026-01-01", annotations=30, documents=3),
        Effort("nfl", "annotation", 30, "2026-01-01", annotations=10, documents=1),
        Effort("nfl", "annotation", 60, "2026-01-02", annotations=20, documents=4),
        Effort("nfl", "annotation", -30, "2026-01-03", note="logged twice"),
    ]
    rows = [(r.use_case, r.activity, r.minutes, r.documents, r.annotations, r.entries) for r in effort_sums(log)]
    assert rows == [
        ("bio", "annotation", 60, 3, 30, 1),
        ("nfl", "rules", 10, 0, 0, 1),
        ("nfl", "annotation", 60, 5, 30, 3),
    ]
    each = [row.minutes_per_annotation for row in effort_sums(log)]
    assert each[0] == each[2] == 2.0
    assert each[1] != each[1]


GOOD = {"use_case": "nfl", "activity": "rules", "minutes": 5, "date": "2026-01-31"}
BAD = {
    "no use case": ({"use_case": ""}, "use_case"),
    "an unknown activity": ({"activity": "ruels"}, "activity"),
    "minutes as text": ({"minutes": "5"}, "minutes"),
    "a truth value": ({"minutes": True}, "minutes"),
    "half a document": ({"documents": 0.5}, "documents"),
    "a day that is none": ({"date": "2026-02-30"}, "not a date"),
    "another way to write a day": ({"date": "31.1.2026"}, "not a date"),
    "an unknown key": ({"hours": 5}, "hours"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_faulty_line_is_told(case, tmp_path):
    change, words = BAD[case]
    (tmp_path / "e.ndjson").write_text(json.dumps(GOOD) + "\n" + json.dumps({**GOOD, **change}) + "\n")
    findings = Findings()
    assert len(read_effort(tmp_path / "e.ndjson", findings)) == 1
    assert [(p.rule, p.line, words in p.message) for p in findings] == [("R-22", 2, True)]


def test_what_could_not_be_read_is_not_written(tmp_path):
    with pytest.raises(SettingError, match="activity"):
        add_effort(tmp_path / "e.ndjson", Effort("nfl", "ruels", 5, "2026-01-31"))
    assert not (tmp_path / "e.ndjson").exists()


@pytest.mark.req("R-22")
def test_the_command_logs_and_shows(tmp_path):
    root = small_package(tmp_path / "small")
    words = ("--add", "annotation", "--minutes", "45", "--annotations", "30", "--date", "2026-01-31")
    rows = here("reading", "effort", root, *words, "--json").data["effort"]
    assert [(row["use_case"], row["minutes"], row["minutes_per_annotation"]) for row in rows] == [("small", 45.0, 1.5)]
    assert "small" in here("reading", "effort", root).stdout
    ended = here("reading", "effort", root, "--add", "annotation")
    assert (ended.code, "--minutes" in ended.stderr) == (2, True)


def test_negative_numbers_mend_a_mistake_only_with_a_note(tmp_path):
    path = tmp_path / "effort.ndjson"
    with pytest.raises(SettingError, match="negative numbers without a note"):
        add_effort(path, Effort("nfl", "rules", -30, "2026-01-31"))
    assert not path.exists()
    add_effort(path, Effort("nfl", "rules", -30, "2026-01-31", note="logged twice"))
    assert read_effort(path, Findings())[0].minutes == -30
