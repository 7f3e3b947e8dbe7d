"""The campaign's file: what it holds, and every problem at once with line and cure."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.campaign.model.campaign_file import load, read_campaign
from basanite.campaign.model.plan import FORMAT
from basanite.errors import InvalidInputError

HEAD = f'format = "{FORMAT}"\nslug = "s"\ntitle = "S"\nzone = "UTC"\nlanguages = ["1A"]\n'
PACKS = """
[[packs]]
id = "DEV"
family = "dev"
released = "2018-01-01 00:00"
sealed = false
[[packs]]
id = "EVAL1"
family = "eval"
released = "2018-01-01 00:00"
[[querysets]]
id = "QUERY1"
released = "2018-01-01 00:00"
"""
WINDOW = {
    "id": '"w"',
    "opens": '"2018-01-08 00:00"',
    "closes": '"2018-02-04 24:00"',
    "tasks": '["CLIR"]',
    "dataset": '["DEV"]',
    "querysets": '["QUERY1"]',
    "quota": "{ count = 5 }",
    "feedback": '"full"',
}


def window(**keys):
    """A row of the calendar with some keys changed; None takes one out."""
    entries = {**WINDOW, **keys}
    return "[[windows]]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items() if value is not None)


def problems(text):
    """What is wrong with a file, as (rule, line, message and fix)."""
    campaign, findings = read_campaign(text)
    assert (campaign is None) == (not findings.valid)
    return [(found.rule, found.line, f"{found.message} | {found.fix}") for found in findings]


def line_of(text, wanted):
    """The line of the last occurrence of some words."""
    return max(number for number, line in enumerate(text.splitlines(), start=1) if wanted in line)


def test_the_shipped_examples_have_no_problems(small, base):
    assert (len(small.windows), len(base.windows)) == (3, 47)


def test_what_is_left_out_has_the_usual_value():
    campaign = load(HEAD + PACKS + window())
    row = campaign.windows[0]
    assert (row.kind, row.naming, row.transfer_grace, row.late_grace, row.quota.period) == (
        "development", "named", timedelta(minutes=60), timedelta(0), "week",
    )  # fmt: skip
    assert (campaign.invalid_per_day, campaign.open_uploads, campaign.largest_upload) == (50, 2, 8 * 2**30)


def test_an_evaluation_week_has_one_primary_without_being_told():
    campaign = load(HEAD + PACKS + window(kind='"evaluation"', feedback='"none"', dataset='["EVAL1"]'))
    assert campaign.windows[0].quota.types == {"primary": 1}


BAD_WINDOWS = {
    "unknown pack": ({"dataset": '["DEVV"]'}, "M62", "dataset", "Did you mean 'DEV'?"),
    "unknown query set": ({"querysets": '["QUERY9"]'}, "M62", "querysets", "Did you mean 'QUERY1'?"),
    "unknown track": ({"tracks": '["open"]'}, "P-31", "tracks", "none is declared"),
    "unknown domain": ({"domains": '["GOV"]'}, "M75", "domains", "none is declared"),
    "unknown language": ({"languages": '["1B"]'}, "M62", "languages", "There are: 1A."),
    "unknown task": ({"tasks": '["CLRI"]'}, "M57", "tasks", "Did you mean 'CLIR'?"),
    "closes before it opens": ({"closes": '"2018-01-07 00:00"'}, "P-27", "closes", "earlier time"),
    "never open": ({"closes": '"2018-01-08 00:00"'}, "P-27", "closes", "earlier time"),
    "bad zone": ({"opens": '"2018-01-08 00:00 Mars/Base"'}, "P-27", "opens", "is not a time zone"),
    "no time": ({"opens": None}, "P-27", "[[windows]]", "has no time"),
    "date without time": ({"opens": "2018-01-08"}, "P-27", "opens", "not a date with a time"),
    "quota of an unknown type": ({"quota": "{ count = 5, types = { primry = 1 } }"}, "M57", "quota", "'primary'"),
    "type above the count": ({"quota": "{ count = 5, types = { primary = 6 } }"}, "M66", "quota", "at least as large"),
    "type of another task": ({"quota": '{ count = 5, types = { "E2E/primary" = 1 } }'}, "M57", "quota", "not accept"),
    "mixed types": (
        {"quota": '{ count = 5, types = { "CLIR/primary" = 1, primary = 1 } }'}, "M67", "quota", "give the task in all",
    ),
    "no quota": ({"quota": None}, "M64", "[[windows]]", "has no quota"),
    "negative quota": ({"quota": "{ count = -1 }"}, "M62", "quota", "not a whole number"),
    "boolean quota": ({"quota": "{ count = true }"}, "M62", "quota", "not a whole number"),
    "unknown period": ({"quota": '{ count = 5, period = "wek" }'}, "M62", "quota", "Did you mean 'week'?"),
    "no feedback": ({"feedback": None}, "M69", "[[windows]]", "does not say what teams see"),
    "unknown feedback": ({"feedback": '"ful"'}, "M62", "feedback", "Did you mean 'full'?"),
    "full on a sealed set": ({"dataset": '["EVAL1"]'}, "X-7", "feedback", "forced"),
    "full on a sealed set, empty reason": ({"dataset": '["EVAL1"]', "forced": '" "'}, "X-7", "feedback", "forced"),
    "evaluation with feedback": ({"kind": '"evaluation"'}, "M68", "feedback", "none"),
    "sanity week with feedback": ({"kind": '"sanity"'}, "M68", "feedback", "none"),
    "two primaries": (
        {"kind": '"evaluation"', "feedback": '"none"', "quota": "{ count = 5, types = { primary = 2 } }"},
        "M66", "quota", "exactly one primary",
    ),
    "results before the end of a blind week": (
        {"kind": '"evaluation"', "feedback": '"none"', "results_at": '["2018-01-09 00:00"]'},
        "X-16", "results_at", "after it closes",
    ),
    "results before opening": ({"results_at": '["2018-01-07 00:00"]'}, "X-16", "results_at", "after it opens"),
    "ladder without feedback": ({"feedback": '"none"', "ladder": "2.0"}, "S-17", "ladder", "remove `ladder`"),
    "bad duration": ({"late_grace": '"2 fortnights"'}, "P-27", "late_grace", "60 min"),
    "endless duration": ({"late_grace": '"999999999 weeks"'}, "P-27", "late_grace", "60 min"),
    "misspelt key": ({"feedbak": '"full"'}, "M62", "feedbak", "Did you mean 'feedback'?"),
    "half-width not a number": ({"half_width": "nan"}, "M62", "half_width", "not a number"),
    "tasks twice": ({"tasks": '["CLIR", "CLIR"]'}, "M62", "tasks", "twice"),
    "id with a slash": ({"id": '"../w"'}, "M62", "id", "letters, digits"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_WINDOWS)
def test_a_bad_row_is_named_with_its_line_and_cure(case):
    keys, rule, place, words = BAD_WINDOWS[case]
    text = HEAD + PACKS + window(**keys)
    found = problems(text)
    line = line_of(text, place if place.startswith("[") else f"{place} = ")
    assert [(r, n) for r, n, said in found if words in said] == [(rule, line)], found


def test_full_feedback_on_a_sealed_set_takes_a_reason():
    text = HEAD + PACKS + window(dataset='["EVAL1"]')
    assert [rule for rule, _, _ in problems(text)] == ["X-7"]
    assert problems(HEAD + PACKS + window(dataset='["EVAL1"]', forced='"shown by contract"')) == []
    assert problems(HEAD + PACKS + window(dataset='["EVAL1"]', feedback='"limited"')) == []


def test_a_sealed_campaign_refuses_a_typed_in_seed():
    text = HEAD + "seed = 7\n" + PACKS + window()
    assert [(rule, line) for rule, line, _ in problems(text)] == [("X-1", line_of(text, "seed"))]
    assert load(HEAD + "seed = 7\nsealed = false\n" + PACKS + window()).seed == 7


def test_two_rows_for_the_same_input_at_the_same_time_are_refused():
    second = window(id='"v"', opens='"2018-02-04 00:00"', closes='"2018-03-01 00:00"')
    found = problems(HEAD + PACKS + window() + second)
    assert [rule for rule, _, said in found if "both accept CLIR" in said] == ["M62"]


def test_rows_that_differ_in_language_query_set_data_or_time_may_stand_side_by_side():
    more = PACKS + '[[querysets]]\nid = "QUERY2"\nreleased = "2018-01-01 00:00"\n'
    others = (
        window(id='"a"', querysets='["QUERY2"]'),
        window(id='"b"', dataset='["EVAL1"]', feedback='"limited"'),
        window(id='"c"', opens='"2018-02-04 24:00"', closes='"2018-03-01 00:00"'),
    )
    for other in others:
        assert problems(HEAD + more + window() + other) == []


def test_identification_has_no_query_sets_to_tell_rows_apart():
    more = PACKS + '[[querysets]]\nid = "QUERY2"\nreleased = "2018-01-01 00:00"\n'
    both = [window(id=f'"{name}"', tasks='["CLIR", "LangID"]', querysets=f'["QUERY{name}"]') for name in (1, 2)]
    assert ["both accept LangID" in said for _, _, said in problems(HEAD + more + "".join(both))] == [True]


def test_rows_of_different_tracks_may_stand_side_by_side():
    tracks = '[[tracks]]\nid = "open"\n[[tracks]]\nid = "human"\n'
    rows = window(id='"a"', tracks='["open"]') + window(id='"b"', tracks='["human"]')
    assert problems(HEAD + PACKS + tracks + rows) == []
    assert problems(HEAD + PACKS + tracks + window(id='"a"', tracks='["open"]') + window(id='"b"')) != []


def test_a_row_on_part_of_a_family_that_is_out_is_refused():
    more = PACKS + '[[packs]]\nid = "EVAL2"\nfamily = "eval"\nreleased = "2018-01-02 00:00"\n'
    found = problems(HEAD + more + window(dataset='["EVAL1"]', feedback='"limited"'))
    assert [rule for rule, _, _ in found] == ["M63"]
    assert problems(HEAD + more + window(dataset='["EVAL1", "EVAL2"]', feedback='"limited"')) == []


def test_all_problems_are_told_at_once_in_the_order_of_lines():
    text = HEAD.replace("UTC", "Nowhere") + "colour = 1\n" + PACKS + window(opens='"soon"', quota=None, tasks="[]")
    found = problems(text)
    assert len(found) >= 5
    assert [line for _, line, _ in found] == sorted(line for _, line, _ in found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('format = "basanite-campaign/2"\n', "newer version"),
        ('format = "basanite-plan/1"\n', "does not say format"),
        ("", "does not say format"),
        ("format = [\n", "not TOML"),
        ("a = " + "[" * 70 + "]" * 70, "nested too deep"),
        ("a." * 80 + "b = 1", "nested too deep"),
        ("x" * (4 * 2**20 + 1), "larger than 4 MiB"),
        (HEAD, "no windows"),
        (HEAD + "windows = 3\n", "not a list of tables"),
        (HEAD + "windows = [1]\n", "not a list of tables"),
        (HEAD.replace('slug = "s"', 'slug = "Ä b"') + PACKS + window(), "cannot be part of a web address"),
        (HEAD + 'two_people = ["relase"]\n' + PACKS + window(), "there is no action"),
        (HEAD + 'largest_upload = "lots"\n' + PACKS + window(), "is not a size"),
        (HEAD + "invalid_per_day = 0\n" + PACKS + window(), "not a whole number"),
        (HEAD + PACKS + window() + window(), "more than once"),
        (HEAD + PACKS + '[[milestones]]\nid = "m"\nat = "2018-02-01 00:00"\nends = "2018-01-01 00:00"\n', "ends"),
        (HEAD + PACKS + "[judging]\nk = 0\n" + window(), "not a whole number"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_campaign_is_refused_in_words(text, words):
    assert any(words in said for _, _, said in problems(text))


def test_a_key_before_its_pack_and_an_unknown_agreement_are_found():
    extra = '[[packs]]\nid = "E"\nreleased = "2018-02-01 00:00"\nkey_at = "2018-01-01 00:00"\nagreement = "nda"\n'
    assert sorted(rule for rule, _, _ in problems(HEAD + PACKS + extra + window())) == ["M89", "P-26"]


def test_a_row_cannot_ask_for_domains_that_are_not_out():
    domains = '[[domains]]\ncodes = ["GOV"]\nreleased = "2018-06-01 00:00"\n'
    found = problems(HEAD + PACKS + domains + window(domains='["GOV"]'))
    assert [rule for rule, _, _ in found] == ["M75"]


def test_load_raises_one_error_with_all_problems():
    with pytest.raises(InvalidInputError) as caught:
        load(HEAD)
    assert caught.value.findings.counts


PIECES = st.sampled_from(
    ["[[windows]]", "[[packs]]", "id = ", '"w"', "\n", "quota = {", "}", "count = 5", "opens = ", '"2018-01-01"',
     "[judging]", "k = 1", ",", "[", "]", "nan", "inf", "1e400", "true", "2018-01-01", "tasks = ", '"""', "#", "\0"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_text_breaks_the_reader(text):
    read_campaign(HEAD + text)


@given(st.dictionaries(st.sampled_from([*WINDOW, "kind", "ladder", "settings", "shows"]), st.sampled_from(
    ["1", "-1", "true", "nan", "[]", "{}", '""', '"x"', "[1]", '["x"]', "{ x = 1 }", "2018-01-01T00:00:00Z", "10:00:00"]
)))  # fmt: skip
def test_no_value_of_another_kind_breaks_the_reader(keys):
    read_campaign(HEAD + PACKS + window(**keys))


def test_messages_are_one_line_and_have_a_cure(small_text):
    broken = re.sub(r'"week"|"total"', '"fortnight"', small_text)
    for rule, line, said in problems(broken):
        assert rule
        assert line
        assert "\n" not in said
        assert said.partition(" | ")[2]
