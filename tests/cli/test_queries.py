"""`basanite material queries` and `basanite material domains`: what they print, where, and with which exit code."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from basanite.cli.queries import domains, queries
from basanite.errors import UnknownNameError

GOOD = 'query_id\tquery_string\tdomain_id\nq1\tmusic\tLIF\nq2\tbribing+,"panel of judges"\tGOV\n'
BAD = GOOD + 'q3\tbribing+, "panel of judges"\tGOV\nq4\t"music"\tLIF\nq5\tsong\tLFI\n'
OWN = 'format = "basanite-domains/1"\n[[domain]]\ncode = "LIF"\nname = "Life"\ndefinition = "All of it."\n'


@pytest.fixture
def pack(tmp_path):
    def write(text):
        (tmp_path / "query_list.tsv").write_text(text, encoding="utf-8")
        return str(tmp_path)

    return write


def run(command, *arguments):
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


def test_a_good_pack_is_listed(pack):
    ran = run(queries, pack(GOOD))
    assert ran.exit_code == 0
    assert "hybrid" in ran.stdout
    assert "Queries: 2. Problems: 0." in ran.stdout
    assert ran.stderr == ""


@pytest.mark.req("M37", case="bad")
def test_problems_are_shown_with_a_caret_below_the_place(pack):
    ran = run(queries, pack(BAD))
    assert ran.exit_code == 1
    assert "hybrid" in ran.stdout
    assert (
        "query_list.tsv:4:13: M37: there is an extra space here\n"
        '    bribing+, "panel of judges"\n'
        "             ^\n"
        "    fix: delete the space\n"
    ) in ran.stderr
    assert "Queries: 2. Problems: 3." in ran.stderr


def test_json_is_one_object_with_queries_and_problems(pack):
    ran = run(queries, pack(BAD), "--json")
    found = json.loads(ran.stdout)
    assert (ran.exit_code, found["valid"], found["total"], ran.stderr) == (1, False, 3, "")
    assert found["queries"][1] == {
        "query": "q2",
        "string": 'bribing+,"panel of judges"',
        "kind": "hybrid",
        "subtype": "conceptual",
        "words": 4,
        "domain": "GOV",
    }
    assert found["problems"][0]["picture"].endswith("\n         ^")


def test_at_most_twenty_problems_of_a_rule_are_listed_unless_all_are_asked_for(pack):
    folder = pack(GOOD + "".join(f'x{number}\t"one"\tGOV\n' for number in range(30)))
    assert "Problems: 30, 20 listed" in run(queries, folder).stderr
    assert run(queries, folder, "--all").stderr.count("fix:") == 30


def test_a_catalogue_of_ones_own_is_used(pack, tmp_path):
    (tmp_path / "own.toml").write_text(OWN, encoding="utf-8")
    ran = run(queries, pack(GOOD), "--catalogue", str(tmp_path / "own.toml"))
    assert ran.exit_code == 1
    assert "no domain has the code 'GOV'" in ran.stderr


def test_a_bad_catalogue_is_refused_with_its_problems(pack, tmp_path):
    (tmp_path / "own.toml").write_text(OWN.replace('"LIF"', '"Lif"'), encoding="utf-8")
    for command, arguments in ((queries, [pack(GOOD)]), (domains, [])):
        ran = run(command, *arguments, "--catalogue", str(tmp_path / "own.toml"))
        assert ran.exit_code == 1
        assert "M38" in ran.stderr


def test_the_catalogue_and_each_domain_can_be_seen():
    assert "Physical" in run(domains).stdout
    one = run(domains, "mil").stdout
    assert one.startswith("MIL: Military\n")
    assert "Notes of annotators" in one
    assert "1S X" in one


def test_the_catalogue_as_json():
    found = json.loads(run(domains, "REL", "--json").stdout)
    assert [domain["name"] for domain in found["domains"]] == ["Religion"]
    assert found["stages"]["1S"]["Y"] == ["BUS", "LAW"]


def test_an_unknown_code_is_misuse():
    with pytest.raises(UnknownNameError, match="Did you mean 'GOV'"):
        run(domains, "GVO")


@pytest.mark.parametrize("command", [queries, domains])
def test_help_ends_with_an_example(command):
    assert "Example:" in run(command, "--help").stdout
