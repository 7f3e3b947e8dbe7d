"""The generators of summaries and of domains and languages: the same bytes twice, and valid under our own rules."""

from __future__ import annotations

import io
import json
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.synthetic import identification_examples as identification_example
from tests.synthetic import summaries_example
from tests.synthetic.test_synthetic_clir import contents

import basanite
from basanite.formats.retrieval.image_header import check_image
from basanite.synthetic.clir import Quality, Spec, catalogue, relevance
from basanite.synthetic.identification import SECOND_DOMAIN, domains, languages
from basanite.synthetic.summaries import (
    JUDGES,
    Summarised,
    judgement_rows,
    returned_documents,
    summary_members,
    text_picture,
)

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SPEC = Spec(queries=5, documents=60, seed=9, prevalence=0.05)
ALPHA = Summarised(SPEC, Quality("Alpha", 8.0, beta=6.0))


def test_the_same_system_gives_the_same_bytes():
    first = dict(summary_members(ALPHA))
    catalogue.cache_clear()
    assert dict(summary_members(ALPHA)) == first
    assert list(judgement_rows(ALPHA)) == list(judgement_rows(ALPHA))


def test_every_returned_pair_has_rows_metadata_image_and_votes():
    members = dict(summary_members(ALPHA))
    votes = Counter((query, document) for _, query, document, _ in judgement_rows(ALPHA))
    for number, query in enumerate(catalogue(SPEC).queries):
        for document in returned_documents(ALPHA, number):
            path = f"{query}/{ALPHA.base(query, document)}"
            assert json.loads(members[f"{path}.json"])["image_filename"] == f"{ALPHA.base(query, document)}.png"
            assert not list(check_image(f"{path}.png", members[f"{path}.png"]))
            assert votes.pop((query, document)) == ALPHA.votes
    assert not votes


def test_a_picture_is_a_real_png_with_text_in_it():
    picture = Image.open(io.BytesIO(text_picture(["secret", "payment"], noise=bytes(range(256)))))
    pixels = np.asarray(picture)
    assert (picture.format, picture.size) == ("PNG", (1024, 32))
    assert 0.02 < np.mean(~pixels[:27]) < 0.2, "some black, mostly white"


@pytest.mark.parametrize("size", [0, 127, 70_000])
def test_noise_gives_a_picture_its_size(size):
    data = text_picture(["word"], noise=bytes(size))
    assert abs(len(data) - len(text_picture(["word"])) - size // 128 * 129) <= 10
    assert Image.open(io.BytesIO(data)).convert("1").size[0] == 1024


def test_judges_find_the_truth_as_often_as_declared():
    system = Summarised(Spec(queries=200, documents=50, seed=1, prevalence=0.1), Quality("A", 6.0, beta=2.0), votes=5)
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    names = catalogue(system.spec)
    truth = {
        query: dict(zip(names.documents, relevance(system.spec, number).tolist(), strict=True))
        for number, query in enumerate(names.queries)
    }
    for judge, query, document, verdict in judgement_rows(system):
        total[judge] += 1
        right[judge] += truth[query][document] == (verdict == "R")
    assert min(total.values()) > 500
    assert all(abs(right[judge] / total[judge] - share) < 0.05 for judge, share in JUDGES.items())


def test_files_are_made_one_after_the_other():
    large = Summarised(Spec(queries=50_000, documents=20, seed=1), Quality("A", 6.0))
    assert len(list(islice(summary_members(large), 3))) == 3


def test_domains_leave_out_conversational_speech_and_may_be_two():
    spec = Spec(queries=0, documents=2000, seed=2)
    truth, genres = domains(spec), dict(zip(catalogue(spec).documents, catalogue(spec).genres, strict=True))
    assert "CS" not in {genres[document] for document in truth.documents}
    counts = truth.flags.sum(axis=0)
    assert set(counts.tolist()) == {1, 2}
    assert abs((counts == 2).mean() - SECOND_DOMAIN * 0.8) < 0.03
    assert (languages(spec).flags.sum(axis=0) == 1).all()


# The shipped examples


def test_the_shipped_end_to_end_example_is_what_the_generator_makes(tmp_path):
    summaries_example.write_example(tmp_path)
    shipped = contents(EXAMPLES / "e2e")
    shipped.pop("README.md")
    assert contents(tmp_path) == shipped


def test_the_shipped_identification_examples_are_what_the_generator_makes(tmp_path):
    identification_example.write_examples(tmp_path)
    for name in ("domainid", "langid"):
        shipped = contents(EXAMPLES / name)
        shipped.pop("README.md")
        assert contents(tmp_path / name) == shipped


def test_the_examples_are_small():
    sizes = {
        name: sum(path.stat().st_size for path in (EXAMPLES / name).rglob("*") if path.is_file())
        for name in ("e2e", "domainid", "langid")
    }
    assert max(sizes.values()) < 400_000


@pytest.mark.req("M40", "M42", "M43", "M48", case="good")
@pytest.mark.parametrize("label", ["Alpha", "Beta"])
def test_the_end_to_end_example_is_valid(label):
    folder = EXAMPLES / "e2e"
    given = {"submission": folder / f"{label}.tgz", "judgements": folder / f"{label}.judgements.tsv"}
    assert basanite.validate("e2e", reference=folder / "key", **given).as_dict("e2e")["problems"] == []


def test_the_broken_end_to_end_example_has_the_mistakes_that_its_readme_names(tmp_path):
    text = (EXAMPLES / "e2e" / "README.md").read_text(encoding="utf-8")
    told = summaries_example.write_broken(tmp_path / "Broken.tgz")
    for file, words in told:
        assert f"| `{file}` | {words} |" in text
    findings = basanite.validate("e2e", reference=EXAMPLES / "e2e" / "key", submission=EXAMPLES / "e2e" / "Broken.tgz")
    assert sorted(findings.counts) == ["M40", "M42", "M44", "M45", "M48"]
    assert {problem.file.split("/")[0] for problem in findings.problems} == {file.split("/")[0] for file, _ in told}


@pytest.mark.req("M34", "C14", case="bad")
def test_the_broken_domainid_example_is_told_the_code_and_the_line():
    folder = EXAMPLES / "domainid"
    findings = basanite.validate(
        "domainid",
        reference=folder / "key",
        submission=folder / "broken",
        metadata=[folder / "metadata" / "documents.tsv"],
    )
    assert [(one.rule, one.file) for one in findings.problems] == [
        ("M34", "LAW.tsv"),
        ("M34", "Government-And-Politics.tsv"),
        ("M34", "GOV.tsv"),
    ]
