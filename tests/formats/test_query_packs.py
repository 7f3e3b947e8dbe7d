"""Query packs: two tables or lines of the full form; every problem has its place, and factors come for free."""

from __future__ import annotations

import pytest

from basanite.errors import UnreadableError
from basanite.formats.datasets.domains import Catalogue, Domain
from basanite.formats.retrieval.query_packs import read_query_pack
from basanite.problems import Findings

HEADER = "query_id\tquery_string\tdomain_id\n"
MAP = "domain_id\tdomain_name\nLIF\tLifestyle\nGOV\tGovernment-And-Politics\n"
LIST = (
    HEADER
    + 'query00001\tmusic\tLIF\nquery00002\tbribing+,"panel of judges"\tGOV\nquery00003\tboxing+[evf:sports]\tLIF\n'
)


@pytest.fixture
def pack(tmp_path):
    """Write a pack, as a folder of tables or as one file, and read it."""

    def read(text, domain_map=None, *, name="", domains=None):
        folder = tmp_path / "QUERY1"
        folder.mkdir()
        (folder / (name or "query_list.tsv")).write_bytes(text if isinstance(text, bytes) else text.encode())
        if domain_map is not None:
            (folder / "domain_map.tsv").write_text(domain_map, encoding="utf-8")
        findings = Findings(limit=None)
        return read_query_pack(folder / name if name else folder, findings, domains), findings

    return read


def places(findings):
    return [(problem.rule, problem.line, problem.field, problem.column) for problem in findings]


@pytest.mark.parametrize("domain_map", [MAP, None])
def test_a_pack_of_tables_is_read(pack, domain_map):
    found, findings = pack(LIST, domain_map)
    assert not findings.counts
    assert found.name == "QUERY1"
    assert [(query.id, query.string, query.domain) for query in found.queries] == [
        ("query00001", "music", "LIF"),
        ("query00002", 'bribing+,"panel of judges"', "GOV"),
        ("query00003", "boxing+[evf:sports]", "LIF"),
    ]


def test_the_last_colon_of_a_full_form_separates_string_and_name(pack):
    found, findings = pack(
        "music:Lifestyle\nebola:Physical-And-Mental-Health\nboxing+[evf:sports]:Sports\n", name="plain.txt"
    )
    assert not findings.counts
    assert [(query.id, query.string, query.domain) for query in found.queries] == [
        ("query00001", "music", "LIF"),
        ("query00002", "ebola", "HEA"),
        ("query00003", "boxing+[evf:sports]", "SPO"),
    ]
    assert found.queries[2].full == "boxing+[evf:sports]:Sports"


def test_a_full_form_may_have_its_id_before_it(pack):
    found, findings = pack("q7\tmusic:Lifestyle\n", name="plain.tsv")
    assert not findings.counts
    assert [(query.id, query.domain) for query in found.queries] == [("q7", "LIF")]


def test_a_pack_gives_the_factors_of_its_queries(pack):
    found, _ = pack(LIST)
    table = found.factors()
    names = ["query00001", "query00002", "query00003", "query99999"]
    assert table.subject == "query"
    assert table.column("kind", names).tolist() == ["lexical", "hybrid", "conceptual", ""]
    assert table.column("subtype", names).tolist() == ["lexical", "conceptual", "conceptual", ""]
    assert table.column("domain", names).tolist() == ["LIF", "GOV", "LIF", ""]
    assert table.column("words", names).tolist() == ["1", "4", "1", ""]
    assert table.column("pack", names).tolist() == ["QUERY1", "QUERY1", "QUERY1", ""]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('q2\tbribing+, "panel of judges"\tGOV', ("M37", 3, 2, 13)),
        ("q2\tmusic \tGOV", ("M37", 3, 2, 9)),
        ('q2\t"music"\tGOV', ("M37", 3, 2, 4)),
        ("q2\t\tGOV", ("M37", 3, 2, 4)),
        ("q2\tmusic:GOV", ("M37", 3, None, None)),
        ("q2\tfishing\tboat\tGOV", ("M37", 3, None, None)),
        ("q1\tsong\tGOV", ("M37", 3, 1, 1)),
        ("q 2\tsong\tGOV", ("M37", 3, 1, 1)),
        ("../q2\tsong\tGOV", ("M37", 3, 1, 1)),
        ("q2\tsong\tGVO", ("M38", 3, 3, 9)),
        ("q2\tsong\tLifestyle", ("M38", 3, 3, 9)),
        ("q2\tsong\t GOV", ("M38", 3, 3, 9)),
        ("", ("M23", 3, None, None)),
    ],
)
def test_a_bad_line_refuses_the_pack_with_its_place(pack, line, place):
    found, findings = pack(f"{HEADER}q1\tmusic\tLIF\n{line}\nq9\tlast\tLAW\n")
    assert places(findings) == [place]
    assert findings.rejected
    assert [query.id for query in found.queries] == ["q1", "q9"]


@pytest.mark.parametrize(
    ("line", "place", "fix"),
    [
        ("music", ("M37", 2, 1, 6), "write a colon"),
        ("music[syn:song]", ("M37", 2, 1, 16), "write a colon"),
        ('bribing+, "panel of judges" GOV', ("M37", 2, 1, 32), "write a colon"),
        ("music :Lifestyle", ("M37", 2, 1, 6), "delete the space"),
        ("music: Lifestyle", ("M37", 2, 1, 7), "write Lifestyle"),
        ("music:LIF", ("M38", 2, 1, 7), "write Lifestyle"),
        ("music:lifestyle", ("M38", 2, 1, 7), "write Lifestyle"),
        ("q2\tmusic:Law And Order", ("M38", 2, 2, 10), "write Law-And-Order"),
        ("music:Livestyle", ("M38", 2, 1, 7), "Did you mean 'Lifestyle'?"),
        ("a\tb\tc\tmusic:Lifestyle", ("M37", 2, None, None), "string:Domain-Name"),
    ],
)
def test_a_bad_full_form_has_its_column_and_its_cure(pack, line, place, fix):
    _, findings = pack(f"first:Sports\n{line}\n", name="plain.txt")
    assert places(findings) == [place]
    assert fix in findings.problems[0].fix


def test_a_query_problem_carries_its_picture(pack):
    _, findings = pack(HEADER + 'q1\tbribing+, "panel of judges"\tGOV\n')
    (problem,) = findings
    assert problem.place() == "query_list.tsv:2:13"
    assert problem.as_dict()["picture"] == 'bribing+, "panel of judges"\n         ^'


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("GOV\tPolitics", ("M38", 4, None, None)),
        ("POL\tGovernment-And-Politics", ("M38", 4, None, None)),
        ("POL\tgovernment", ("M38", 4, 2, 5)),
        ("Pol\tPolitics", ("M38", 4, 1, 1)),
        ("POL", ("M37", 4, None, None)),
    ],
)
def test_a_map_that_is_not_one_to_one_refuses_the_pack(pack, line, place):
    _, findings = pack(LIST, f"{MAP}{line}\n")
    assert places(findings) == [place]
    assert findings.rejected


def test_only_the_codes_of_the_packs_own_map_are_known(pack):
    _, findings = pack(HEADER + "q1\tmusic\tSPO\n", MAP)
    assert places(findings) == [("M38", 2, 3, 10)]


def test_a_map_that_differs_from_the_catalogue_is_warned_of(pack):
    found, findings = pack(HEADER + "q1\tmusic\tLIF\n", "LIF\tDaily-Life\n")
    assert places(findings) == [("M38", 1, 2, 5)]
    assert findings.valid
    assert found.queries[0].full == "music:Daily-Life"


def test_a_catalogue_of_ones_own_and_its_subdomains_count(pack):
    own = Catalogue({"ART": Domain("ART", "Art", "What artists make.", subdomains=("Street-Art",))}, {})
    found, findings = pack("graffiti:Street-Art\n", name="plain.txt", domains=own)
    assert not findings.counts
    assert (found.queries[0].domain, found.queries[0].full) == ("ART", "graffiti:Street-Art")


def test_the_same_query_under_two_ids_is_warned_of(pack):
    found, findings = pack(HEADER + "q1\tmusic\tLIF\nq2\tmusic\tGOV\nq3\tmusic\tLIF\n")
    assert places(findings) == [("M37", 4, None, None)]
    assert findings.valid
    assert len(found.queries) == 3


def test_a_missing_header_is_noticed_and_its_line_is_read(pack):
    found, findings = pack("q1\tmusic\tLIF\n")
    assert places(findings) == [("M37", 1, 1, 1)]
    assert [query.id for query in found.queries] == ["q1"]


@pytest.mark.parametrize(
    ("content", "rules"),
    [
        (b"", {"M37"}),
        (b"\n\n", {"M23", "M37"}),
        ((HEADER + "q1\tmusic\tLIF").encode(), {"M23"}),
        ((HEADER + "q1\tmusic\tLIF\n").replace("\n", "\r\n").encode(), {"M22"}),
        (b"\xef\xbb\xbf" + LIST.encode(), {"M22"}),
        (LIST.encode() + b"q9\tcaf\xe9\tLIF\n", {"M21"}),
    ],
)
def test_bytes_that_are_no_lines_of_text_are_named(pack, content, rules):
    _, findings = pack(content)
    assert set(findings.counts) == rules


def test_a_pack_that_is_not_there_is_said_to_be_unreadable(tmp_path):
    with pytest.raises(UnreadableError, match=r"query_list\.tsv cannot be read"):
        read_query_pack(tmp_path, Findings())


def test_a_pack_of_the_programmes_size_is_read_whole(pack):
    lines = (f'query{number:05d}\t"word{number} boat",word{number}+\tGOV\n' for number in range(600))
    found, findings = pack(HEADER + "".join(lines))
    assert not findings.counts
    assert len(found.queries) == 600
