"""The states of a report: forwards only, comments kept, hostile files refused."""

import pytest
from tests.harness.analysis.folders import folder

from basanite.errors import SettingError
from basanite.harness.report.states import ReportState, read_state, write_state


def test_a_report_goes_from_draft_over_comments_and_revision_to_release(tmp_path):
    result = folder(tmp_path)
    assert read_state(result).state == "draft"
    told = (
        read_state(result).add_comment("a", "Our learner had the wrong noise.").advance("revised").advance("released")
    )
    write_state(result, told)
    kept = read_state(result)
    assert kept.history == ("draft", "team comments", "revised", "released")
    assert [(one.team, one.text, one.state) for one in kept.comments] == [
        ("a", "Our learner had the wrong noise.", "team comments")
    ]


def test_a_report_never_goes_back_and_a_released_one_takes_no_comments():
    released = ReportState().advance("released")
    with pytest.raises(SettingError, match="does not become 'draft' again"):
        released.advance("draft")
    with pytest.raises(SettingError, match="released"):
        released.add_comment("a", "too late")
    assert released.advance("released") == released


@pytest.mark.parametrize("text", ["", "  ", "x" * 20_001], ids=["empty", "blank", "long"])
def test_a_comment_has_something_to_say_and_an_end(text):
    with pytest.raises(SettingError):
        ReportState().add_comment("a", text)


@pytest.mark.parametrize(
    "content",
    ["{", "[]", '{"format": "other/9"}', '{"format": "basanite-harness-report-state/1", "state": "done"}'],
    ids=["broken", "list", "other format", "no history"],
)
def test_a_file_of_states_that_is_none_is_refused_with_words(content, tmp_path):
    result = folder(tmp_path)
    (tmp_path / "report_state.json").write_text(content, encoding="utf-8")
    with pytest.raises(SettingError, match="report_state"):
        read_state(result)
