"""Files of translation as WMT, NIST's mteval, mt-metrics-eval and sacreBLEU have them, by the command (T-15)."""

from __future__ import annotations

import json

import pytest
import sacrebleu
from tests.cli.running import here

REFERENCES = ["Dogs sleep in the sun.", "The cat sat on a warm mat.", "It rains today in the old town."]
SECOND = ["The dogs are asleep in the sun.", "A cat was on the warm mat.", "Today there is rain in the old town."]
ALPHA = ["Dogs sleep in a sun.", "The cat sat on the warm mat.", "It rains in the old town."]
BETA = ["Dog sleeps.", "Cat on mat.", "Rain today in the town that is old."]
XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="by-hand">
 <collection id="general">
  <doc origlang="de" id="news1" domain="news">
   <src lang="de"><p><seg id="1">Hunde</seg><seg id="2">Katze</seg></p></src>
   <ref lang="en" translator="A"><p><seg id="1">{0}</seg><seg id="2">{1}</seg></p></ref>
   <ref lang="en" translator="B"><p><seg id="1">{3}</seg><seg id="2">{4}</seg></p></ref>
   <hyp lang="en" system="Alpha"><p><seg id="1">{6}</seg><seg id="2">{7}</seg></p></hyp>
   <hyp lang="en" system="Beta"><p><seg id="1">{9}</seg><seg id="2">{10}</seg></p></hyp>
  </doc>
  <doc origlang="de" id="chat1" domain="chat">
   <src lang="de"><p><seg id="1">Regen</seg></p></src>
   <ref lang="en" translator="A"><p><seg id="1">{2}</seg></p></ref>
   <ref lang="en" translator="B"><p><seg id="1">{5}</seg></p></ref>
   <hyp lang="en" system="Alpha"><p><seg id="1">{8}</seg></p></hyp>
   <hyp lang="en" system="Beta"><p><seg id="1">{11}</seg></p></hyp>
  </doc>
 </collection>
</dataset>
""".format(*REFERENCES, *SECOND, *ALPHA, *BETA)
SGM = """<{0} setid="by-hand" srclang="any" trglang="en">
<DOC docid="news1" sysid="{1}" genre="news">
<hl><seg id="1">{2}</seg></hl><p><seg id="2">{3}</seg></p>
</DOC>
<DOC docid="chat1" sysid="{1}" genre="chat"><p><seg id="1">{4}</seg></p></DOC>
</{0}>
"""


def lines(texts):
    return "".join(f"{text}\n" for text in texts)


@pytest.fixture
def there(tmp_path):
    files = {
        "test.xml": XML,
        "ref.sgm": SGM.format("refset", "ref", *REFERENCES),
        "Alpha.sgm": SGM.format("tstset", "Alpha", *ALPHA),
        "ref.txt": lines(REFERENCES),
        "alpha.txt": lines(ALPHA),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def run(folder, reference, submission, *more):
    files = ("--reference", reference, "--submission", submission)
    return here("score", "translation", *files, "--draws", "20", "--json", *more, cwd=folder)


def score(folder, reference, submission, *more):
    ended = run(folder, reference, submission, *more)
    assert ended.code == 0, ended.stderr
    return ended.data


def bleu_and_chrf(found):
    return [found["values"][name]["value"] for name in ("bleu", "chrf")]


def theirs(answers, *references, **options):
    bleu = sacrebleu.corpus_bleu(answers, references, force=True, **options)
    return pytest.approx([one.score / 100 for one in (bleu, sacrebleu.corpus_chrf(answers, references))], abs=1e-9)


@pytest.mark.req("T-15", "D-3", "D-6")
@pytest.mark.parametrize("system", ["Alpha", "Beta"])
def test_xml_of_wmt_is_reference_and_submission_with_documents_and_domains(there, system):
    found = score(there, "test.xml", "test.xml", "--set", f"system={system}")
    assert bleu_and_chrf(found) == theirs({"Alpha": ALPHA, "Beta": BETA}[system], REFERENCES, SECOND)
    assert set(found["breakdowns"]["domain"]) == {"news", "chat"}
    assert any("2 documents" in note for note in found["notes"])


@pytest.mark.req("T-15", "D-3")
def test_lines_stand_beside_a_test_set_by_position_and_it_is_said(there):
    found = score(there, "test.xml", "alpha.txt")
    assert bleu_and_chrf(found) == theirs(ALPHA, REFERENCES, SECOND)
    assert any("paired by their position" in note for note in found["notes"])
    (there / "short.txt").write_text(lines(ALPHA[:2]))
    ended = here("validate", "translation", "--reference", "test.xml", "--submission", "short.txt", "--json", cwd=there)
    (problem,) = ended.data["problems"]
    assert problem["message"] == "2 lines where the reference has 3 segments"


@pytest.mark.req("T-29", "T-15")
def test_one_file_of_wmt_holds_the_reference_and_every_system(there):
    ended = here("score", "translation", "test.xml", "--set", "system=Beta", "--json", cwd=there)
    assert bleu_and_chrf(ended.data) == theirs(BETA, REFERENCES, SECOND)
    compared = here("compare", "translation", "test.xml", "--draws", "20", "--json", cwd=there).data
    for name, texts in (("Alpha", ALPHA), ("Beta", BETA)):
        assert [compared["values"][name][one]["value"] for one in ("bleu", "chrf")] == theirs(texts, REFERENCES, SECOND)
    assert here("score", "translation", "test.xml", "--set", "system=Beta", cwd=there).stdout.startswith("Beta\n")
    assert "set system=NAME" in here("score", "translation", "test.xml", cwd=there).stderr
    assert "no reference in it" in here("score", "translation", "Alpha.sgm", cwd=there).stderr
    (there / "typed.xml").write_text("<!DOCTYPE x>" + XML.partition("?>")[2])
    assert "DOCTYPE" in here("score", "translation", "typed.xml", cwd=there).stderr


@pytest.mark.req("T-15", "D-6")
def test_sgm_of_mteval_is_read_on_both_sides(there):
    found = score(there, "ref.sgm", "Alpha.sgm")
    assert bleu_and_chrf(found) == theirs(ALPHA, REFERENCES)
    assert set(found["breakdowns"]["genre"]) == {"news", "chat"}


@pytest.mark.req("T-15", "X-8")
@pytest.mark.parametrize("name", ["ref.sgm", "test.xml"])
def test_a_document_type_is_refused_by_its_name(there, name):
    begin = '<!DOCTYPE refset [<!ENTITY a "aaaa">]>\n'
    content = (there / name).read_text()
    (there / name).write_text(begin + content.partition("?>\n")[2] if "?>" in content else begin + content)
    ended = here("validate", "translation", "--reference", name, "--submission", "alpha.txt", "--json", cwd=there)
    (problem,) = ended.data["problems"]
    assert problem["rule"] == "X-8"
    assert "DOCTYPE" in problem["message"]


@pytest.mark.req("T-15")
def test_a_system_has_to_be_named_where_a_file_holds_several(there):
    ended = run(there, "test.xml", "test.xml")
    assert ended.code != 0
    assert "set system=NAME. There are: Alpha, Beta." in ended.stderr
    assert "no system 'Gamma'" in run(there, "test.xml", "test.xml", "--set", "system=Gamma").stderr
    ended = here("validate", "translation", "--reference", "test.xml", "--submission", "ref.sgm", "--json", cwd=there)
    assert "no translation of a system" in ended.data["problems"][0]["message"]


@pytest.mark.req("T-15", "D-6")
def test_a_folder_of_mt_metrics_eval_gives_references_documents_and_domains(there):
    for folder in ("sources", "references", "documents", "system-outputs/en-de"):
        (there / "wmt" / folder).mkdir(parents=True)
    files = {
        "sources/en-de.txt": lines("abc"),
        "references/en-de.refA.txt": lines(REFERENCES),
        "references/en-de.refB.txt": lines(SECOND),
        "documents/en-de.docs": "news n1\nnews n1\nchat c1\n",
        "system-outputs/en-de/Alpha.txt": lines(ALPHA),
    }
    for name, content in files.items():
        (there / "wmt" / name).write_text(content)
    alpha = "wmt/system-outputs/en-de/Alpha.txt"
    found = score(there, "wmt", alpha)
    assert bleu_and_chrf(found) == theirs(ALPHA, REFERENCES, SECOND)
    assert set(found["breakdowns"]["domain"]) == {"news", "chat"}
    assert bleu_and_chrf(score(there, "wmt", alpha, "--set", "references=refA")) == theirs(ALPHA, REFERENCES)
    (there / "wmt/references/en-zh.refA.txt").write_text(lines(REFERENCES))
    assert "set pair=NAME. There are: en-de, en-zh." in run(there, "wmt", alpha).stderr
    assert bleu_and_chrf(score(there, "wmt", alpha, "--set", "pair=en-zh")) == theirs(ALPHA, REFERENCES)


@pytest.mark.req("T-15")
@pytest.mark.parametrize("name", ["alpha.jsonl", "alpha.tsv"])
def test_json_lines_and_tsv_are_read_by_id_with_what_is_known_of_segments(there, name):
    rows = [
        {"id": f"s{at}", "document": f"d{at // 2}", "domain": ("news", "chat")[at // 2], "text": text}
        for at, text in enumerate(REFERENCES)
    ]
    (there / "ref.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [(f"s{at}", text) for at, text in enumerate(ALPHA)][::-1]
    as_lines = "".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in answers)
    table = "id\ttext\n" + "".join(f"{key}\t{text}\n" for key, text in answers)
    (there / name).write_text(table if name.endswith("tsv") else as_lines)
    found = score(there, "ref.jsonl", name)
    assert bleu_and_chrf(found) == theirs(ALPHA, REFERENCES)
    assert set(found["breakdowns"]["domain"]) == {"news", "chat"}


@pytest.mark.req("T-15")
@pytest.mark.parametrize("tokeniser", ["13a", "intl", "zh", "char", "none"])
def test_tokenisers_without_a_download_are_those_of_sacrebleu(there, tokeniser):
    found = score(there, "ref.txt", "alpha.txt", "--set", f"tokenise={tokeniser}")
    assert bleu_and_chrf(found) == theirs(ALPHA, REFERENCES, tokenize=tokeniser)


@pytest.mark.req("T-15")
def test_other_tokenisers_say_what_they_need(there):
    assert "it downloads a model" in run(there, "ref.txt", "alpha.txt", "--set", "tokenise=flores200").stderr
    ended = run(there, "ref.txt", "alpha.txt", "--set", "tokenise=ja-mecab")
    assert ended.code == 0 or "pip install 'sacrebleu[ja]'" in ended.stderr


@pytest.mark.req("T-15", "D-4")
@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [('<seg id="2">', '<seg id="1">', "appears twice"), ('docid="news1" ', "", "no docid"), ("</seg>", "", "not XML")],
)
def test_faults_of_sgm_are_named_with_their_line(there, right, wrong, words):
    (there / "ref.sgm").write_text((there / "ref.sgm").read_text().replace(right, wrong, 1))
    ended = here("validate", "translation", "--reference", "ref.sgm", "--submission", "alpha.txt", "--json", cwd=there)
    (problem,) = ended.data["problems"]
    assert words in problem["message"]
    assert problem["line"]


@pytest.mark.req("T-15", "D-4")
def test_xml_of_something_else_is_refused_by_its_name(there):
    (there / "page.xml").write_text("<?xml version='1.0'?>\n<html><body>Hello</body></html>\n")
    ended = here("validate", "translation", "--reference", "ref.txt", "--submission", "page.xml", "--json", cwd=there)
    (problem,) = ended.data["problems"]
    assert "XML" in problem["message"]
    assert problem["fix"]
