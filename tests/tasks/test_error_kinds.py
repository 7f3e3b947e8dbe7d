"""False alarms by kind of non-target, against a table made by hand and by brute force."""

import numpy as np
import pytest
from tests.tasks import folders

from basanite.cli.held_key import HeldKeyScorer
from basanite.errors import InvalidInputError, SettingError
from basanite.problems import Findings
from basanite.tasks import Inputs
from basanite.tasks.retrieval.mistakes import mistakes_of, read_error_kinds, remembering

STRING, DOMAIN, NEITHER = "right string, wrong domain", "right domain, wrong string", "neither"
# Six documents: relevant, right string only, right domain only, neither, neither, conversational speech.
RELEVANT = [[1, 0, 0, 0, 0, 0]]
RETURNED = [[1, 1, 1, 1, 0, 1]]
STRINGS = [[1, 1, 0, 0, 0, 1]]
IN_GOV = [1, 0, 1, 0, 0, None]
GENRES = ["NT", "NT", "TT", "NB", "TB", "CS"]


def domain_files(codes, names):
    lines = {code: zip(names, states, strict=True) for code, states in codes.items()}
    return {
        f"{code}.tsv": "".join(
            f"{name}\t{folders.letter(state)}\n" for name, state in pairs if state is not None
        ).encode()
        for code, pairs in lines.items()
    }


def table(path, subject, column, levels):
    path.write_text(f"{subject}\t{column}\n" + "".join(f"{name}\t{level}\n" for name, level in levels.items()))
    return path


@pytest.fixture
def case(tmp_path):
    """A function that writes one evaluation with its annotations and gives its mistakes."""

    def made(relevant=RELEVANT, returned=RETURNED, *, strings=STRINGS, domains=None, domain="GOV", genres=GENRES):
        names, queries = folders.documents(len(relevant[0])), folders.queries(len(relevant))
        files = folders.run(tmp_path, relevant, returned)
        codes = {"GOV": IN_GOV, "SPO": [0, 1, 0, 0, 0, None]} if domains is None else domains
        metadata = (
            table(tmp_path / "d.tsv", "document", "genre", dict(zip(names, genres, strict=True))),
            table(tmp_path / "q.tsv", "query", "domain", dict.fromkeys(queries, domain)),
        )
        run = HeldKeyScorer("clir", {}).run(
            Inputs(files["submission"], files["reference"], metadata=metadata), remembering
        )
        findings = Findings()
        kinds = read_error_kinds(
            run,
            folders.written(tmp_path / "domains", domain_files(codes, names)) if codes else None,
            folders.written(tmp_path / "strings", folders.key_files(strings)) if strings is not None else None,
            findings,
        )
        return mistakes_of(run, "Alpha", kinds), findings

    return made


def counts(mistakes):
    return {one.kind: (one.false_alarms, one.documents) for one in mistakes.non_targets}


def test_false_alarms_are_right_string_right_domain_or_neither_and_conversations_are_left_out(case):
    mistakes, _ = case()
    assert counts(mistakes) == {STRING: (1, 1), DOMAIN: (1, 1), NEITHER: (1, 2)}
    assert [one.share for one in mistakes.non_targets] == [pytest.approx(1 / 3)] * 3
    assert [one.rate for one in mistakes.non_targets] == [1.0, 1.0, 0.5]
    kinds = [mistakes.kinds[kind] if kind >= 0 else None for kind in mistakes.kind]
    assert kinds == [STRING, DOMAIN, NEITHER, None]


def test_without_a_string_key_the_domain_tells_right_domain_from_wrong(case):
    mistakes, _ = case(strings=None)
    assert counts(mistakes) == {DOMAIN: (1, 1), "wrong domain": (2, 3)}


def test_without_a_domain_key_the_string_tells_right_string_from_wrong(case):
    mistakes, _ = case(domains={})
    assert counts(mistakes) == {STRING: (1, 1), "wrong string": (2, 3)}


def test_the_name_of_a_domain_is_as_good_as_its_code(case):
    assert counts(case(domain="Government-And-Politics")[0])[DOMAIN] == (1, 1)


def test_keys_that_contradict_each_other_are_shown(case):
    mistakes, _ = case(strings=[[1, 1, 1, 0, 0, 0]])
    assert counts(mistakes)["right string and domain"] == (1, 1)


def test_counts_agree_with_looking_at_every_pair(case):
    rng = np.random.default_rng(4)
    shape = (6, 30)
    string, domain = rng.random(shape) < 0.3, rng.random(shape[1]) < 0.4
    relevant, returned = string & domain, rng.random(shape) < 0.5
    genres = np.where(rng.random(shape[1]) < 0.2, "CS", "NT")
    in_domain = [None if genre == "CS" else bool(state) for genre, state in zip(genres, domain, strict=True)]
    found, _ = case(relevant, returned, strings=string, domains={"GOV": in_domain}, genres=genres)
    wanted = {STRING: [0, 0], DOMAIN: [0, 0], NEITHER: [0, 0]}
    for query in range(6):
        for document in np.flatnonzero(~relevant[query] & (genres != "CS")):
            kind = STRING if string[query, document] else DOMAIN if domain[document] else NEITHER
            wanted[kind][0] += int(returned[query, document])
            wanted[kind][1] += 1
    assert counts(found) == {kind: tuple(pair) for kind, pair in wanted.items()}


def test_annotations_that_tell_nothing_of_these_documents_are_refused(case):
    with pytest.raises(SettingError, match="No query has a domain"):
        case(domain="LAW")
    with pytest.raises(SettingError, match="No query has a domain"):
        case(domain="")


def test_problems_of_an_annotation_are_found_and_not_raised(case):
    mistakes, findings = case(domains={"GOV": [1, 0, 1, 0, 0, None], "SPO": [1, 0, 1, 0, None, None]})
    assert not findings.valid
    assert {problem.where for problem in findings} == {"reference"}
    assert mistakes.kinds == ()


def test_a_submission_with_problems_is_refused_with_all_of_them(tmp_path):
    files = folders.run(tmp_path, RELEVANT, RETURNED)
    folders.changed(files["submission"], "query00001.tsv", b"\tY\t", b"\ty\t")
    with pytest.raises(InvalidInputError) as refused:
        HeldKeyScorer("clir", {}).run(Inputs(files["submission"], files["reference"]), remembering)
    assert refused.value.findings.counts["M28"] == 5
