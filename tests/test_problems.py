"""Problems and findings: all are counted, a few of each kind are shown, and nothing hides in what is shown."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.problems import Findings, Problem, place_problem, shortened, visible


def problem(rule="M29", line=1, **more):
    return Problem(rule, "query1.tsv", line, 3, "confidence '1'", "write 1.0", found="1", **more)


PROBLEMS = st.lists(
    st.builds(
        problem,
        rule=st.sampled_from(["M23", "M26", "M29"]),
        line=st.integers(1, 9),
        severity=st.sampled_from(["reject", "warn"]),
    ),
    max_size=40,
)
LIMITS = st.sampled_from([None, 1, 3, 20])


def filled(problems, limit=20):
    findings = Findings(limit)
    findings.extend(problems)
    return findings


@given(PROBLEMS, LIMITS)
@settings(max_examples=100, deadline=None)
def test_counts_are_exact_while_the_list_is_capped_for_each_rule(problems, limit):
    findings = filled(problems, limit)
    assert findings.counts == Counter(p.rule for p in problems)
    assert findings.valid == all(p.severity == "warn" for p in problems)
    kinds = Counter((p.rule, p.severity) for p in findings)
    assert kinds == {kind: min(n, limit or n) for kind, n in Counter((p.rule, p.severity) for p in problems).items()}
    assert [p for p in problems if p in findings.problems][:1] == findings.problems[:1]


@given(st.lists(PROBLEMS, max_size=5), LIMITS, LIMITS)
@settings(max_examples=100, deadline=None)
def test_findings_made_file_by_file_are_those_made_in_one_go(parts, limit, inner):
    whole = Findings(limit)
    for part in parts:
        whole.merge(filled(part, inner))
    flat = filled([p for part in parts for p in part], limit)
    assert whole.counts == flat.counts
    assert whole.valid == flat.valid
    if inner is None or (limit is not None and inner >= limit):
        assert whole.problems == flat.problems


def test_occurrences_without_text_are_counted_and_a_warning_rejects_nothing():
    findings = filled([problem(severity="warn")])
    findings.count("M31", 4, severity="warn")
    findings.count("M29", 0)
    assert findings.valid
    findings.count("M29", 2)
    assert not findings.valid
    assert findings.counts == {"M29": 3, "M31": 4}


def test_a_reason_to_reject_is_listed_although_warnings_of_its_rule_fill_their_list():
    warnings = [problem("M23", line, severity="warn") for line in range(1, 30)]
    findings = filled([*warnings, problem("M23", 99)])
    assert [p.line for p in findings if p.severity == "reject"] == [99]
    assert findings.counts == {"M23": 30}


def test_a_reason_to_reject_survives_the_merge_though_it_has_no_text():
    whole, part = Findings(), Findings()
    part.count("M29", 3)
    whole.merge(part)
    assert not whole.valid
    assert whole.counts == {"M29": 3}


def test_findings_as_an_object_have_what_programs_need():
    data = filled([problem()] * 25).as_dict("clir")
    assert {name: data[name] for name in ("task", "valid", "counts", "listed", "total")} == {
        "task": "clir",
        "valid": False,
        "counts": {"M29": 25},
        "listed": 20,
        "total": 25,
    }
    assert data["problems"][0] == {
        "rule": "M29",
        "severity": "reject",
        "where": "submission",
        "file": "query1.tsv",
        "line": 1,
        "field": 3,
        "column": None,
        "found": "1",
        "message": "confidence '1'",
        "fix": "write 1.0",
    }


def test_a_place_reads_as_editors_want_it():
    assert problem(line=7).place() == "query1.tsv:7:3"
    assert problem(line=None).place() == "query1.tsv"
    assert problem(line=7, column=12).place() == "query1.tsv:7:12"
    assert place_problem(problem(), "reference").where == "reference"


@given(st.text())
@settings(max_examples=100, deadline=None)
def test_whatever_was_found_is_shown_without_characters_that_act(text):
    shown = Problem("M29", text, 1, 3, text, text, found=text).as_dict()
    for part in (shown["file"], shown["found"], shown["message"], shown["fix"]):
        assert part.isprintable()


@given(st.binary(max_size=500) | st.text(max_size=500), st.integers(2, 80))
@settings(max_examples=100, deadline=None)
def test_what_was_found_is_text_of_bounded_length(raw, length):
    assert len(shortened(raw, length)) <= length


def test_bytes_that_are_no_text_are_shown_and_not_lost():
    assert shortened(b"a\xffb") == "a\\xffb"
    assert visible("a\u202eb\x1b[0m\n") == "a\\u202eb\\x1b[0m\\n"
