"""The catalogue of domains and the usage rules: shipped whole, editable, and checked when edited."""

from __future__ import annotations

import pytest

from basanite.errors import UnknownNameError, UnreadableError
from basanite.formats.datasets import domains, usage_rules
from basanite.formats.datasets.domains import load_domains, name_fix, shipped_domains
from basanite.formats.datasets.usage_rules import load_usage_rules, rules_for, shipped_rules
from basanite.problems import Findings

SMALL = """
format = "basanite-domains/1"
[[domain]]
code = "ART"
name = "Fine-Art"
definition = "What artists make."
subdomains = ["Street-Art"]
[[domain]]
code = "SEA"
name = "The-Sea"
definition = "Ships and fish."
[stages.1X]
X = ["SEA", "ART"]
"""
RULES = """
format = "basanite-usage-rules/1"
[datasets]
train = "To learn from"
[aliases]
T = "train"
[[rule]]
name = "look"
action = "Look at the data"
allowed = { train = "yes" }
"""


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "own.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def found_in(load, path):
    findings = Findings(limit=None)
    return load(path, findings), [(problem.rule, problem.message) for problem in findings]


def test_the_eight_names_and_codes_map_one_to_one():
    catalogue = shipped_domains()
    assert catalogue.names == {
        "GOV": "Government-And-Politics",
        "LIF": "Lifestyle",
        "BUS": "Business-And-Commerce",
        "LAW": "Law-And-Order",
        "HEA": "Physical-And-Mental-Health",
        "MIL": "Military",
        "SPO": "Sports",
        "REL": "Religion",
    }
    assert {code: name for name, code in catalogue.codes.items()} == catalogue.names


def test_languages_have_their_domains_at_their_stages_as_sets():
    catalogue = shipped_domains()
    assert {language: dict(stages) for language, stages in catalogue.stages.items()} == {
        "1A": {"X": {"GOV", "LIF"}, "Y": {"LAW", "BUS"}, "Z": {"SPO"}},
        "1B": {"X": {"LIF", "GOV"}, "Y": {"HEA", "MIL"}, "Z": {"SPO"}},
        "1S": {"X": {"GOV", "MIL"}, "Y": {"BUS", "LAW"}, "Z": {"REL"}},
    }
    assert catalogue.domains_of("1S") == {"GOV", "MIL", "LAW", "BUS", "REL"}
    assert catalogue.domains_of("1B", "XY") == {"GOV", "LIF", "HEA", "MIL"}


def test_each_shipped_domain_is_described():
    for domain in shipped_domains().domains.values():
        assert domain.definition
        assert domain.in_scope
        assert domain.out_of_scope
        assert domain.notes


def test_names_that_the_catalogue_lacks_are_answered_with_near_ones():
    catalogue = shipped_domains()
    with pytest.raises(UnknownNameError, match="Did you mean 'GOV'"):
        catalogue.domain("GVO")
    with pytest.raises(UnknownNameError, match="language '9Z'"):
        catalogue.domains_of("9Z")
    with pytest.raises(UnknownNameError, match="stage 'Q'"):
        catalogue.domains_of("1A", "Q")


def test_an_edited_catalogue_is_read_with_its_subdomains(file):
    catalogue, problems = found_in(load_domains, file(SMALL))
    assert problems == []
    assert catalogue.codes == {"Fine-Art": "ART", "Street-Art": "ART", "The-Sea": "SEA"}
    assert catalogue.domains_of("1X") == {"ART", "SEA"}


@pytest.mark.parametrize(
    ("old", "new", "rule", "message"),
    [
        ('"SEA"\nname', '"ART"\nname', "M38", "the code 'ART' stands for several"),
        ("The-Sea", "Fine-Art", "M38", "the name 'Fine-Art' stands for several"),
        ("The-Sea", "Street-Art", "M38", "the name 'Street-Art' stands for several"),
        ("The-Sea", "the sea", "M38", "not a name of a domain"),
        ('code = "SEA"', 'code = "Sea"', "M38", "not three capital letters"),
        ('["SEA", "ART"]', '["SEE", "ART"]', "M75", "names 'SEE'"),
        ('["SEA", "ART"]', '"SEA"', "M87", "not a list of texts"),
        ("[stages.1X]", "[stage.1X]", "M87", "unknown key `stage`"),
        ('definition = "Ships and fish."', "", "M87", "domain 2 has no text `definition`"),
        ('definition = "Ships and fish."', "definition = 3", "M87", "domain 2 has no text `definition`"),
        ("domains/1", "domains/2", "M87", "does not say format"),
        ("[[domain]]\ncode", "[domain]\ncode", "M87", "not TOML"),
        ('[stages.1X]\nX = ["SEA", "ART"]', "[stages]\n1X = 3", "M87", "1X is not a table"),
    ],
)
def test_a_catalogue_that_was_edited_badly_is_refused_with_what_is_wrong(file, old, new, rule, message):
    assert old in SMALL
    catalogue, problems = found_in(load_domains, file(SMALL.replace(old, new)))
    assert catalogue is None
    assert any(found == rule and message in text for found, text in problems), problems


@pytest.mark.parametrize(
    "text", ['format = "basanite-domains/1"\ndomain = 3', 'format = "basanite-domains/1"', b"\xff"]
)
def test_a_file_without_domains_is_refused(file, text):
    catalogue, problems = found_in(load_domains, file(text))
    assert catalogue is None
    assert problems


def test_a_syntax_error_has_its_line(file):
    findings = Findings()
    assert load_domains(file('format = "basanite-domains/1"\nx = = 1\n'), findings) is None
    assert (findings.problems[0].line, findings.problems[0].column) == (2, 5)


def test_a_file_that_is_not_there_is_said_to_be_unreadable(tmp_path):
    with pytest.raises(UnreadableError, match="cannot be read"):
        load_domains(tmp_path / "none.toml", Findings())


@pytest.mark.parametrize(("name", "fix"), [("Law-And-Order", ""), ("law and order", "write Law-And-Order"), ("1", "w")])
def test_names_of_domains_have_capital_initials_and_hyphens(name, fix):
    assert name_fix(name).startswith(fix)
    assert bool(name_fix(name)) == bool(fix)


TABLE = {
    "build": {"read-documents-early", "read-documents-later", "mine-vocabulary", "train-models", "tune", "index"},
    "devtest": {"study-open-queries", "tune", "reuse-retrieval-models", "score-locally"},
    "analysis": {"read-documents-early", "study-open-queries", "tune", "score-locally", "translate-snippets"},
    "eval": {"read-documents-later", "process-queries", "index", "cross-lingual-models", "adapt-online"},
    "open-queries": {"study-open-queries", "process-queries"},
    "closed-queries": {"study-closed-queries-later", "process-queries", "count-toward-result"},
}
FORBIDDEN = {
    "devtest": {"read-documents-early", "mine-vocabulary", "train-models", "study-closed-queries-early"},
    "analysis": {"mine-vocabulary", "train-models", "study-closed-queries-early"},
    "eval": {"read-documents-early", "study-open-queries", "tune", "reuse-retrieval-models", "score-locally"},
    "open-queries": {"count-toward-result"},
    "closed-queries": {"study-closed-queries-early"},
}


@pytest.mark.parametrize("dataset", TABLE)
def test_the_usage_rules_say_what_may_be_done_with_each_set(dataset):
    allowed = {rule.name: rule.allowed for rule in rules_for(dataset)}
    assert all(allowed[name] for name in TABLE[dataset])
    assert not any(allowed[name] for name in FORBIDDEN.get(dataset, ()))
    assert not allowed["pass-on"]


@pytest.mark.parametrize(
    ("name", "dataset"),
    [
        ("EVAL1", "eval"),
        ("EVAL1EVAL2", "eval"),
        ("DEV", "devtest"),
        ("Analysis2", "analysis"),
        ("QUERY1", "open-queries"),
        ("QUERY2QUERY3", "closed-queries"),
        ("Q3", "closed-queries"),
        ("open-queries", "open-queries"),
    ],
)
def test_sets_are_known_by_the_names_of_the_packs(name, dataset):
    assert shipped_rules().dataset(name) == dataset


@pytest.mark.parametrize("name", ["evla", "", "ANALYSIS1DEV", "QUERY1QUERY2"])
def test_a_set_that_is_unknown_or_mixed_has_no_rules(name):
    with pytest.raises(UnknownNameError, match=f"no usage rules for '{name}'"):
        rules_for(name)


def test_obligations_hold_whatever_the_set():
    assert set(shipped_rules().obligations) >= {"share-harvested-data", "share-bought-data"}


def test_rules_of_ones_own_are_read(file):
    rules, problems = found_in(load_usage_rules, file(RULES))
    assert problems == []
    assert [rule.name for rule in rules_for("t", rules)] == ["look"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"yes"', '"maybe"', "says 'maybe' for train"),
        ('"yes"', "[]", "says '[]' for train"),
        ("{ train", "{ tran", "unknown key `tran`"),
        ('T = "train"', 'T = "trian"', "alias 'T'"),
        ('action = "Look at the data"', "", "no text `action`"),
        ("[[rule]]", "[[rules]]", "unknown key `rules`"),
    ],
)
def test_rules_that_were_edited_badly_are_refused(file, old, new, message):
    rules, problems = found_in(load_usage_rules, file(RULES.replace(old, new)))
    assert rules is None
    assert any(rule == "M82" and message in text for rule, text in problems), problems


@pytest.mark.parametrize("path", [domains.SHIPPED, usage_rules.SHIPPED])
def test_the_shipped_files_have_no_problem(path):
    findings = Findings()
    (load_domains if path == domains.SHIPPED else load_usage_rules)(path, findings)
    assert not findings.counts
