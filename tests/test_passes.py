"""The table of what passed on what is that of the reports."""

from pathlib import Path

import pytest
from tools.passes import main

REPORT = """<testsuites><testsuite>
<testcase classname="tests.campaign.store.test_files" name="a"/>
<testcase classname="tests.campaign.store.test_files" name="b">{outcome}</testcase>
<testcase classname="tests.cli.test_help" name="c"/>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("outcome", "line", "code"),
    [
        ("", "tests/campaign/store          2        0        0          2        0        0", 0),
        ("<failure/>", "tests/campaign/store          2        0        0          1        1        0", 1),
        ("<error/>", "tests/campaign/store          2        0        0          1        1        0", 1),
        (
            '<skipped message="its file"/>',
            "tests/campaign/store          2        0        0          1        0        1",
            0,
        ),
    ],
    ids=["passed", "failed", "broken", "left out"],
)
def test_each_run_is_told_by_folder_and_what_was_left_out_with_its_reason(tmp_path, capsys, outcome, line, code):
    for name, said in (("one", ""), ("two", outcome)):
        Path(tmp_path / name).write_text(REPORT.format(outcome=said), encoding="utf-8")
    assert main([f"SQLite={tmp_path / 'one'}", f"PostgreSQL={tmp_path / 'two'}"]) == code
    told = capsys.readouterr().out
    assert line in told.splitlines()
    assert ("1  its file" in told) == ("skipped" in outcome)


def test_a_run_that_left_no_report_is_a_failure(tmp_path, capsys):
    assert main([f"SQLite={tmp_path / 'none'}"]) == 1
    assert "all" in capsys.readouterr().out
