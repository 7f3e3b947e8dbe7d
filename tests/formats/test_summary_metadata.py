"""Metadata of summaries: good files pass, every breach has its rule and pointer, and the short cut never disagrees."""

import json
import time
from datetime import timedelta, timezone
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import SettingError
from basanite.formats.retrieval.summary_metadata import (
    SummaryName,
    _is_plain,
    check_summary,
    is_date_time,
    read_summary,
    summary_rules,
)
from basanite.formats.strict_json import parse, too_deep
from basanite.problems import Findings

BASE = "FLAIR.MySystem1.query123.MATERIAL_BASE-1A_12345678"
NAME = f"query123/{BASE}.json"
RULES = summary_rules()
GOOD = {
    "team_id": "FLAIR",
    "sys_label": "MySystem1",
    "uuid": "dc91049e-d934-40d7-a175-5af32cbabbca",
    "query_id": "query123",
    "document_id": "MATERIAL_BASE-1A_12345678",
    "run_name": "dummy1",
    "run_date_time": "2018-03-27T13:51:00-05:00",
    "image_filename": f"{BASE}.jpg",
    "content_list": ["secret payment", "panel"],
}


OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timedelta(minutes=minutes)) | st.just(timedelta(seconds=90))


def read(value, name=NAME, rules=RULES):
    findings = Findings()
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    summary = read_summary(name, data, rules, findings)
    assert (summary is None) == findings.rejected
    return findings.problems


def breaches(changes=(), without=(), **options):
    value = {key: item for key, item in {**GOOD, **dict(changes)}.items() if key not in without}
    return [(problem.rule, problem.message.partition(": ")[0]) for problem in read(value, **options)]


def test_the_plans_own_example_passes():
    findings = Findings()
    summary = read_summary(NAME, json.dumps(GOOD).encode(), RULES, findings)
    assert findings.problems == []
    assert summary.name == SummaryName("FLAIR", "MySystem1", "query123", "MATERIAL_BASE-1A_12345678")
    assert summary.content == ("secret payment", "panel")
    assert breaches({"image_filename": f"{BASE}.png"}) == []


@pytest.mark.parametrize("missing", sorted(GOOD))
def test_each_of_the_nine_properties_is_required(missing):
    assert ("M43", "the whole file") in breaches(without=[missing])


def test_an_extra_property_and_wrong_types_are_refused_with_their_pointer():
    assert breaches({"comment": "x"}) == [("M43", "the whole file")]
    assert breaches({"run_name": 5}) == [("M43", "/run_name")]
    assert breaches({"content_list": ["a", 7]}) == [("M43", "/content_list/1")]
    assert breaches({"instructions": "read it"}) == [("M43", "/instructions")]
    (problem,) = read({**GOOD, "content_list": ["a", {"b": 1}, "c"]})
    assert "string" in problem.fix
    assert [problem.rule for problem in read([GOOD])] == ["M43"]


def test_teams_are_registered_in_exact_case_with_a_hint_for_near_misses():
    other = BASE.replace("FLAIR", "Flair")
    (problem,) = read({**GOOD, "team_id": "Flair", "image_filename": f"{other}.jpg"}, f"{other}.json")
    assert (problem.rule, problem.found) == ("M44", "Flair")
    assert "FLAIR" in problem.fix
    assert breaches(rules=summary_rules(["NIST", "FLAIR"])) == []
    assert breaches(rules=summary_rules(["NIST"])) == [("M44", "/team_id")]


@pytest.mark.parametrize("label", ["My-System", "My System", "", "Système", "MySystem1\n"])
def test_a_label_has_letters_and_digits_only(label):
    assert ("M44", "/sys_label") in breaches({"sys_label": label})


@pytest.mark.parametrize(
    "change", [lambda u: u[:-1], lambda u: u.replace("-", ""), lambda u: "g" + u[1:], "{}\n".format]
)
def test_a_uuid_has_its_pattern(change):
    assert ("M44", "/uuid") in breaches({"uuid": change(GOOD["uuid"])})


WRONG_TIMES = [
    "2018-03-27",
    "2018-03-27T13:51:00",
    "2018-03-27 13:51:00Z",
    "2018-03-27T13:51Z",
    "2018-3-27T13:51:00Z",
    "2018-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2018-04-31T00:00:00Z",
    "2018-13-01T00:00:00Z",
    "2018-00-01T00:00:00Z",
    "2018-03-00T00:00:00Z",
    "2018-03-27T24:00:00Z",
    "2018-03-27T13:60:00Z",
    "2018-03-27T13:51:61Z",
    "2018-03-27T23:59:60Z",
    "2016-12-31T23:59:60+01:00",
    "2018-03-27T13:51:00+24:00",
    "2018-03-27T13:51:00+05:60",
    "2018-03-27T13:51:00-0500",
    "2018-03-27T13:51:00.Z",
    "2018-03-27T13:51:00Z\n",
    "２０18-03-27T13:51:00Z",
    "20180327T135100Z",
    "yesterday",
    "",
]
RIGHT_TIMES = [
    "2018-03-27T13:51:00-05:00",
    "2018-03-27t13:51:00.123456789z",
    "2016-02-29T00:00:00Z",
    "2000-02-29T23:59:59+23:59",
    "2016-12-31T23:59:60Z",
    "2017-01-01T00:59:60+01:00",
    "2016-12-31T18:59:60-05:00",
    "1990-06-30T23:59:60-00:00",
]


@pytest.mark.parametrize("text", WRONG_TIMES)
def test_a_date_time_that_cannot_be_is_refused(text):
    assert breaches({"run_date_time": text}) == [("M44", "/run_date_time")]


@pytest.mark.parametrize("text", RIGHT_TIMES)
def test_date_times_of_rfc_3339_pass(text):
    assert breaches({"run_date_time": text}) == []


@given(st.datetimes(timezones=st.builds(timezone, OFFSETS)))
@settings(max_examples=40, deadline=None)
def test_whatever_python_writes_as_rfc_3339_is_a_date_time(moment):
    assert is_date_time(moment.isoformat()) == (moment.utcoffset() % timedelta(minutes=1) == timedelta(0))


@pytest.mark.parametrize(
    ("key", "value"),
    [("team_id", "SARAL"), ("sys_label", "MySystem2"), ("query_id", "query124"), ("document_id", "MATERIAL_BASE-1A_1")],
)
def test_what_stands_inside_agrees_with_the_name(key, value):
    assert breaches({key: value}) == [("M45", f"/{key}")]


@pytest.mark.parametrize("name", ["summary.json", "FLAIR.MySystem1.query123.json", f"{BASE}.txt", ".a.b.c.json", ""])
def test_a_file_of_another_name_agrees_with_nothing(name):
    assert ("M45", "the whole file") in breaches(name=name)


@pytest.mark.parametrize(
    "image",
    [BASE, f"{BASE}.gif", f"{BASE}.jpg.exe", f"{BASE}xjpg", f"{BASE}.JPG", f"x/{BASE}.jpg", f"{BASE}.png\n", "a.jpg"],
)
def test_the_image_is_named_as_its_metadata(image):
    found = breaches({"image_filename": image})
    assert set(found) == {("M46", "/image_filename")}


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_the_images_name_is_the_base_name_with_its_extension(suffix):
    assert breaches({"image_filename": BASE + suffix}) == []


@pytest.mark.parametrize("content", [["w"] * 100, ["w " * 100], ["two words"] * 50, [""]])
def test_a_hundred_words_pass(content):
    assert breaches({"content_list": content}) == []


@pytest.mark.parametrize("content", [["two words"] * 50 + ["one"], ["w " * 101], ["a\tb\n c"] * 34])
def test_more_than_a_hundred_words_are_refused_with_their_count(content):
    (problem,) = read({**GOOD, "content_list": content})
    words = sum(len(text.split()) for text in content)
    assert (problem.rule, problem.found) == ("M47", f"{words} words")


@pytest.mark.parametrize("content", [[], [""] * 101])
def test_the_number_of_strings_is_bounded_too(content):
    assert breaches({"content_list": content}) == [("M47", "/content_list")]


def test_instructions_of_three_parts_pass_and_are_kept():
    parts = {"component_1": "<b>Read</b>", "component_2": "", "domain": "x"}
    findings = Findings()
    summary = read_summary(NAME, json.dumps({**GOOD, "instructions": parts}).encode(), RULES, findings)
    assert findings.problems == []
    assert summary.instructions == parts


@pytest.mark.parametrize(
    "parts", [{"component_1": 5}, {"domain": None}, {"component_3": "x"}, {"component_2": "x" * 5000}]
)
def test_instructions_that_are_not_shown_or_not_in_full_warn(parts):
    findings = Findings()
    summary = read_summary(NAME, json.dumps({**GOOD, "instructions": parts}).encode(), RULES, findings)
    ((key, value),) = parts.items()
    assert [(problem.rule, problem.severity) for problem in findings] == [("M50", "warn")]
    assert findings.problems[0].message.startswith(f"/instructions/{key}: ")
    assert summary.instructions == ({key: value} if key == "component_2" else {})


def test_the_organisers_own_schema_takes_the_place_of_ours():
    shipped = files("basanite.formats.retrieval") / "summary_schema.json"
    schema = json.loads(shipped.read_bytes())
    schema["properties"]["genre"] = {"enum": ["NB", "TB"]}
    schema["required"] = ["team_id", "genre"]
    rules = summary_rules(schema=json.dumps(schema).encode())
    assert breaches(rules=rules) == [("M43", "the whole file")]
    assert breaches({"genre": "NB"}, rules=rules) == []
    assert breaches({"genre": "XX"}, rules=rules) == [("M43", "/genre")]
    findings = Findings()
    few = {"team_id": "FLAIR", "genre": "TB"}
    assert read_summary(NAME, json.dumps(few).encode(), rules, findings).content == ()


@pytest.mark.parametrize(
    "schema",
    [b"{", b"[]", b'{"type": "nonsense"}', b'{"properties": {"a": {"$ref": "http://host.invalid/a.json"}}}', b"[" * 99],
)
def test_a_schema_that_is_wrong_or_reaches_out_is_a_wrong_setting(schema):
    with pytest.raises(SettingError):
        summary_rules(schema=schema)


def test_a_reference_that_leads_nowhere_is_a_wrong_setting_too():
    for target in ("#/nowhere", "#"):
        schema = json.dumps({"properties": {"team_id": {"$ref": target}}, "$ref": target}).encode()
        with pytest.raises(SettingError):
            list(check_summary(NAME, GOOD, summary_rules(schema=schema)))


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"[" * 100_000, "X-8"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "X-8"),
        (b'"' + b"x" * 300_000 + b'"', "X-8"),
        (b'{"a": 1' + b"0" * 5000 + b"}", "X-8"),
        (b'{"team_id": "FLAIR", "team_id": "SARAL"}', "M43"),
        (b'{"a": NaN}', "M43"),
        (b'{"a": "\\ud800"}', "M43"),
        (b'{"a": "\xff"}', "M43"),
        (b"\xef\xbb\xbf{}", "M43"),
        (b"", "M43"),
        (b'{"team_id": "FLAIR",\n}', "M43"),
    ],
)
def test_dangerous_and_ambiguous_json_is_refused_before_or_while_parsing(data, rule):
    (problem,) = read(data)
    assert problem.rule == rule


def test_a_syntax_fault_has_its_line_and_column():
    (problem,) = read(b'{"team_id": "FLAIR",\n  oops}')
    assert (problem.line, problem.column) == (2, 3)


def test_brackets_in_strings_do_not_count_as_depth():
    deep = b'["' + b"[" * 500 + b'\\"' + b"[" * 500 + b'"]'
    assert parse(deep, limit=10_000, rule="M43").fault == ""
    assert too_deep(b'["\\\\"' + b"[" * 64)


def test_depth_is_found_in_linear_time():
    start = time.process_time()
    too_deep(b'"\\' * 500_000 + b"[" * 65)
    too_deep(b'{"a":"\\"' * 200_000)
    parse(b"{" + b",".join(b'"k%d":1' % at for at in range(20_000)) + b',"k19999":1}', limit=2**19, rule="M43")
    assert time.process_time() - start < 1.5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
VALUES = JSON | st.sampled_from(
    [
        *GOOD.values(),
        *WRONG_TIMES,
        *RIGHT_TIMES,
        f"{BASE}.png",
        GOOD["uuid"].upper(),
        GOOD["uuid"] + "\n",
        "MySystem1\n",
        ["w"] * 100,
        ["w"] * 101,
        ["w " * 51] * 2,
        {"component_1": "x", "domain": "y"},
        {"component_1": 1},
        {"other": "x"},
        {"domain": "x" * 4001},
    ]
)
CHANGES = st.dictionaries(st.sampled_from([*GOOD, "instructions"]) | st.text(max_size=5), VALUES, max_size=2)
NAMES = st.sampled_from([NAME, f"{BASE}.json", f"{BASE}.txt", BASE.replace("FLAIR", "NIST") + ".json"])


@settings(max_examples=150, deadline=None)
@given(changes=CHANGES, name=NAMES, missing=st.sampled_from([None, None, None, *GOOD]))
def test_the_short_cut_and_the_schema_agree(changes, name, missing):
    value = {key: item for key, item in {**GOOD, **changes}.items() if key != missing}
    place = SummaryName.parse(name)
    plain = place is not None and _is_plain(value, place, RULES.teams)
    assert plain == (not list(check_summary(name, value, RULES)))


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()), at=st.integers(0, 500))
def test_no_bytes_make_it_raise(data, at):
    good = json.dumps(GOOD).encode()
    for piece in (data, good[:at] + data + good[at + len(data) :]):
        read_summary(NAME, piece, RULES, Findings())


def test_twenty_thousand_files_take_a_few_seconds():
    data = json.dumps({**GOOD, "content_list": ["word"] * 100, "instructions": {"domain": "x"}}).encode()
    start = time.process_time()
    assert all(read_summary(NAME, data, RULES, Findings()) for _ in range(2000))
    assert time.process_time() - start < 1
