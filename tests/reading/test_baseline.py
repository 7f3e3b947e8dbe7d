"""The pattern reader: what it reads, that it reads the same each time, and that it never saw the test texts."""

import os
import re
import subprocess
import sys
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.problems import Findings
from basanite.reading.baseline import read
from basanite.reading.baseline.report import TEAMS, aliases, mentions
from basanite.reading.ontology_checks import check_statements
from basanite.reading.ontology_file import read_ontology
from basanite.reading.patterns import Prefixes
from basanite.reading.provenance import span_fault
from basanite.reading.terms import Iri, Literal

NFL = "https://nfl.example/scoring#"
PREFIXES = Prefixes(NFL, {"nfl": NFL})
PARTS = ("train", "test")


@pytest.fixture(scope="module")
def example(repository):
    return repository / "examples" / "reading" / "nfl"


@pytest.fixture(scope="module")
def texts(example):
    return {
        part: {
            path.stem: path.read_text(encoding="utf-8") for path in sorted((example / "corpus" / part).glob("*.txt"))
        }
        for part in PARTS
    }


def told(text: str, name: str) -> list[str]:
    """The values that the reader finds for a property, without namespace or datatype."""
    found = [
        assertion.statement.object for assertion in read(text, "d") if assertion.statement.predicate == Iri(NFL + name)
    ]
    return [term.lexical if isinstance(term, Literal) else str(term).strip("<>").removeprefix(NFL) for term in found]


def points(text: str) -> dict[str, int]:
    found = defaultdict(dict)
    for assertion in read(text, "d"):
        made = assertion.statement
        found[made.subject][made.predicate.value.removeprefix(NFL)] = made.object
    return {
        about["teamScoringAll"].value.removeprefix(NFL): int(about["pointsScored"].lexical)
        for about in found.values()
        if "pointsScored" in about
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Bears beat the Packers 27-20.", {"ChicagoBears": 27, "GreenBayPackers": 20}),
        ("The Packers lost to the Bears, 27-20.", {"ChicagoBears": 27, "GreenBayPackers": 20}),
        ("The Packers, 20-27, lost to the Bears.", {"ChicagoBears": 27, "GreenBayPackers": 20}),
        ("Detroit 16, Minnesota 13.", {"DetroitLions": 16, "MinnesotaVikings": 13}),
        ("The Jets led 10-3, but the Bills beat the Jets 13-10.", {"BuffaloBills": 13, "NewYorkJets": 10}),
        ("The Jets met the Bills. Final: thirteen to ten, Jets.", {"NewYorkJets": 13, "BuffaloBills": 10}),
    ],
)
def test_final_scores_go_to_the_right_teams(text, expected):
    assert points(text) == expected


def test_two_games_in_one_report_are_kept_apart():
    text = "Colts 17, Texans 9. It was dull. Browns 21, Bengals 20. The Browns kicked two field goals in overtime."
    assert points(text) == {"IndianapolisColts": 17, "HoustonTexans": 9, "ClevelandBrowns": 21, "CincinnatiBengals": 20}
    assert told(text, "hasOvertimePlay") == ["true"]


def test_records_and_scores_along_the_way_are_not_final_scores():
    text = "The Bears (5-2) trailed 14-3 at the half. The Bears beat Detroit (3-4) 24-17 on Sunday."
    assert points(text) == {"ChicagoBears": 24, "DetroitLions": 17}


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("The Jets beat Miami 9-6 in sudden death.", "hasOvertimePlay", ["true"]),
        ("The Jets beat Miami 9-6 without overtime.", "hasOvertimePlay", ["false"]),
        ("The Jets beat Miami 9-6.", "hasOvertimePlay", []),
        ("The Jets beat Miami 9-6 after five periods.", "numberOfPeriods", ["5"]),
        ("The Jets beat Miami 9-6 on Oct. 8, 2023.", "gameDate", ["2023-10-08"]),
        ("The Jets beat Miami 9-6 on the first of May, 2023.", "gameDate", ["2023-05-01"]),
        ("The Jets beat Miami 9-6 on February 31, 2023.", "gameDate", []),
        ("DENVER - The Broncos beat the Jets 9-6.", "homeTeamInGame", ["DenverBroncos"]),
        ("The Broncos beat the visiting Jets 9-6.", "awayTeamInGame", ["NewYorkJets"]),
        ("The Broncos beat the Jets 9-6. Denver kicked three field goals.", "fieldGoalCompleteCount", ["3"]),
        ("The Broncos and the Jets scored two touchdowns apiece.", "touchdownCompleteCount", ["2", "2"]),
        ("The Broncos beat the Jets 9-6.", "gameLoser", ["NewYorkJets"]),
    ],
)
def test_circumstances_and_counts_are_read(text, name, expected):
    assert told(text, name) == expected


def test_a_town_with_two_teams_names_the_one_that_the_report_is_about():
    assert {mention.team for mention in mentions("Los Angeles won. The Rams are 5-4.")} == {"Los Angeles Rams"}
    assert mentions("New York won.") == []


def test_no_name_belongs_to_two_teams():
    names = [name for team in TEAMS for name in aliases(team)]
    assert len(TEAMS) == 32
    assert len(names) == len(set(names))


@pytest.mark.parametrize("part", PARTS)
def test_every_span_of_the_reader_is_where_it_says(texts, part):
    spans = [(name, span) for name, text in texts[part].items() for said in read(text, name) for span in said.spans]
    assert len(spans) > 200
    assert [span for name, span in spans if span_fault(span, texts[part][name])] == []


@pytest.mark.parametrize("part", PARTS)
def test_what_the_reader_says_does_not_break_the_ontology(example, texts, part):
    ontology = read_ontology(example / "ontology.ttl", PREFIXES, Findings())
    for name, text in texts[part].items():
        faults = check_statements(ontology, [assertion.statement for assertion in read(text, name)])
        assert [fault.message for fault in faults if fault.severity == "violation"] == [], name


def test_the_reader_says_the_same_whatever_the_order_of_hashes(example):
    program = (
        "import hashlib, pathlib, sys\n"
        "from basanite.reading.baseline import read\n"
        "paths = sorted(pathlib.Path(sys.argv[1]).glob('*/*.txt'))\n"
        "said = [a.id for p in paths for a in read(p.read_text(encoding='utf-8'), p.stem)]\n"
        "print(hashlib.sha256(''.join(said).encode()).hexdigest(), len(said))\n"
    )
    outcomes = {_run(program, str(example / "corpus"), seed) for seed in ("1", "2")}
    assert len(outcomes) == 1


def test_the_reader_opens_no_file_of_the_example(example):
    program = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "from basanite.reading.baseline import read\n"
        "read('The Bears beat the Packers 27-20 in overtime.', 'd')\n"
        "print([name for name in opened if 'corpus' in name or 'annotations' in name or name.endswith('.txt')])\n"
    )
    assert _run(program, "", "0") == "[]"


def test_no_words_of_the_test_texts_stand_in_the_reader(repository, texts):
    folder = repository / "src" / "basanite" / "reading" / "baseline"
    source = " ".join(re.findall(r"[a-z]+", " ".join(path.read_text() for path in sorted(folder.glob("*.py"))).lower()))
    for name, text in texts["test"].items():
        words = re.findall(r"[a-z]+", text.lower())
        runs = {" ".join(words[start : start + 4]) for start in range(len(words) - 3)}
        assert [run for run in sorted(runs) if f" {run} " in source] == [], name


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_text_is_read_without_complaint(text):
    for assertion in read(text, "d"):
        assert all(span_fault(span, text) is None for span in assertion.spans)


@given(
    st.lists(
        st.sampled_from(
            ["Bears", "the Jets", "beat", "14-3", "27", ", ", ". ", "overtime", "two touchdowns", "at home"]
        )
    )
)
@settings(max_examples=100, deadline=None)
def test_any_jumble_of_its_own_words_is_read_without_complaint(pieces):
    text = " ".join(pieces)
    for assertion in read(text, "d"):
        assert all(span_fault(span, text) is None for span in assertion.spans)


def _run(program: str, argument: str, seed: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", program, argument],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return ran.stdout.strip()
