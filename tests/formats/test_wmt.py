"""Test sets of WMT: what goes out as XML or as our files comes back the same; what is left behind is told (P-32)."""

import json
import xml.etree.ElementTree
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from basanite.formats.foreign_files import Losses
from basanite.formats.texts import wmt
from basanite.formats.texts.wmt import DataSet, Document, Version, read_wmt, write_wmt
from basanite.formats.texts.wmt_files import Given, file_name, files_of, read_files, system_of
from basanite.problems import Findings

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "import" / "newstest.xml"
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

XML_TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\ufffe\uffff"), max_size=12).map(
    lambda text: "".join(char for char in text if char >= " " or char in "\t\n\r")
)
NAMES = st.text("aZ09-é&<\"' ./", min_size=1, max_size=5).filter(str.strip)


@st.composite
def documents(draw, id_):
    ids = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    cuts = draw(st.integers(1, len(ids)))
    paragraphs = tuple(filter(None, (tuple(ids[:cuts]), tuple(ids[cuts:]))))

    def versions(names):
        made = []
        for name in sorted(names):
            kept = [segment for segment in ids if draw(st.booleans())] or ids[:1]
            made.append(Version(name, {segment: draw(XML_TEXT) for segment in kept}))
        return tuple(made)

    return Document(
        id_,
        paragraphs,
        {segment: draw(XML_TEXT) for segment in ids},
        versions(draw(st.sets(st.sampled_from("ABC"), max_size=2))),
        versions(draw(st.sets(st.sampled_from(["Online-A", "../up", ".x", "ü/b"]), max_size=2))),
        draw(st.dictionaries(st.sampled_from(["collection", "origlang", "domain"]), NAMES, max_size=2)),
        draw(st.sampled_from(["", "en"])),
        "de",
    )


@st.composite
def data_sets(draw):
    names = draw(st.lists(st.sampled_from(["d1", "d 2", 'd"3']), min_size=1, max_size=2, unique=True))
    return DataSet("set", tuple(draw(documents(name)) for name in names))


def without_language(found):
    """A document of which there is no translation says no language of it."""
    return [
        (one.id, one.paragraphs, one.source, one.references, one.systems, one.facts, one.source_lang)
        + ((one.target_lang,) if one.references or one.systems else ())
        for one in found.documents
    ]


def as_xml(tmp_path, data_set):
    losses, path = Losses("x"), tmp_path / "x.xml"
    path.write_text("".join(write_wmt(data_set, losses)), encoding="utf-8", newline="")
    return path, losses


def saved(tmp_path, files):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return {system_of(tmp_path / name): tmp_path / name for name in files if name.startswith("systems/")}


@given(data_sets())
@QUICK
def test_a_test_set_written_as_xml_comes_back_the_same(tmp_path, data_set):
    path, losses = as_xml(tmp_path, data_set)
    findings = Findings()
    found = read_wmt(path, findings)
    assert (findings.problems, losses.found) == ([], {})
    assert (found.id, without_language(found)) == (data_set.id, without_language(data_set))


@given(data_sets())
@QUICK
def test_a_test_set_written_as_files_of_ours_comes_back_the_same(tmp_path_factory, data_set):
    folder, findings = tmp_path_factory.mktemp("files"), Findings()
    files = files_of(data_set, findings)
    systems = saved(folder, files)
    assert all(path.resolve().parent == (folder / "systems").resolve() for path in systems.values())
    reference = folder / "reference.jsonl" if "reference.jsonl" in files else None
    found = read_files(Given(folder / "source.jsonl", reference, systems), findings)
    assert findings.problems == []
    assert found == data_set


def test_the_example_reads_as_another_parser_reads_it():
    findings = Findings()
    found = read_wmt(EXAMPLE, findings)
    tree = xml.etree.ElementTree.parse(EXAMPLE)  # our own file
    wanted = [
        (doc.get("id"), part.tag, part.get("system") or part.get("translator") or "", seg.get("id"), seg.text)
        for doc in tree.iter("doc")
        for part in doc
        for seg in part.iter("seg")
    ]
    given = []
    for doc in found.documents:
        sides = [("src", "", doc.source), *(("ref", v.name, v.texts) for v in doc.references)]
        sides += [("hyp", v.name, v.texts) for v in doc.systems]
        given += [(doc.id, tag, name, at, text) for tag, name, texts in sides for at, text in texts.items()]
    assert given == wanted
    assert [problem.message for problem in findings.problems] == ["not kept: the attribute 'reviewed' of <doc>"]


DOC = '<dataset id="t">{0}<doc id="d"{1}><src lang="en">{2}<p><seg id="1"{3}>a{4}</seg></p></src>{5}</doc></dataset>'
LEFT = {
    "an attribute of a document": (1, ' kind="x"', "the attribute 'kind' of <doc>"),
    "an attribute of a segment": (3, ' type="title"', "the attribute 'type' of <seg>"),
    "an element": (5, "<note>n</note>", "the element <note> in <doc>"),
    "an element of the source": (2, "<hr/>", "the element <hr> in <src>"),
    "text": (0, "words", "text directly in <dataset>"),
    "marks": (4, "<b>b</b>", "the mark <b> within a segment; its text is kept"),
    "a segment of nothing": (
        5,
        '<ref lang="de"><p><seg id="9">x</seg></p></ref>',
        "a segment of a <ref> that the source does not have",
    ),
    "a second language": (
        5,
        '<hyp lang="de" system="A"><p><seg id="1">x</seg></p></hyp>'
        '<hyp lang="fr" system="B"><p><seg id="1">x</seg></p></hyp>',
        "a second language of the translations of a document, 'fr'",
    ),
    "no segments": (5, '<hyp lang="de" system="A"/>', "a <hyp> without segments"),
    "a document without segments": (0, '<doc id="e"><src lang="en"/></doc>', "a document without segments"),
}


@pytest.mark.parametrize(("place", "text", "told"), LEFT.values(), ids=LEFT)
def test_what_a_file_says_beyond_our_model_is_told(tmp_path, place, text, told):
    parts = ["", "", "", "", "", ""]
    parts[place] = text
    path, findings = tmp_path / "x.xml", Findings()
    path.write_text(DOC.format(*parts))
    assert read_wmt(path, findings) is not None
    assert [problem.message for problem in findings.problems] == [f"not kept: {told}"]


def test_other_paragraphs_of_a_translation_are_told(tmp_path):
    path, findings = tmp_path / "x.xml", Findings()
    seg = '<seg id="{}">x</seg>'.format
    path.write_text(
        f'<dataset id="t"><doc id="d"><src lang="en"><p>{seg(1)}{seg(2)}</p></src>'
        f'<ref lang="de" translator="A"><p>{seg(1)}</p><p>{seg(2)}</p></ref></doc></dataset>'
    )
    assert read_wmt(path, findings).documents[0].references[0].texts == {"1": "x", "2": "x"}
    assert [problem.message for problem in findings.problems] == [
        "not kept: order and paragraphs of a <ref> that differ from the source's"
    ]


WRONG = {
    "no XML": ("<dataset", "P-32", "not XML"),
    "other XML": ("<srcset/>", "P-32", "the outermost element is 'srcset'"),
    "nothing": ("<dataset id='t'/>", "P-32", "there is no document with segments"),
    "no source": ("<dataset><doc id='d'/></dataset>", "P-32", "a document has 0 sources"),
    "no id": ("<dataset><doc><src><seg id='1'>a</seg></src></doc></dataset>", "P-32", "<doc> has no id"),
    "a segment twice": (
        "<dataset><doc id='d'><src><seg id='1'>a</seg><seg id='1'>b</seg></src></doc></dataset>",
        "P-32",
        "a segment appears twice",
    ),
    "a document twice": (
        "<dataset>" + "<doc id='d'><src><seg id='1'>a</seg></src></doc>" * 2 + "</dataset>",
        "P-32",
        "a document appears twice",
    ),
    "a system without a name": (
        "<dataset><doc id='d'><src><seg id='1'>a</seg></src><hyp><seg id='1'>a</seg></hyp></doc></dataset>",
        "P-32",
        "two <hyp> of one document",
    ),
    "a document type": ("<!DOCTYPE dataset [<!ENTITY a 'b'>]><dataset>&a;</dataset>", "X-8", "a document type"),
    "an empty document type": ("<!DOCTYPE dataset><dataset/>", "X-8", "a document type"),
    "an entity": ("<dataset>&nbsp;</dataset>", "P-32", "not XML: undefined entity"),
    "depth": ("<dataset>" + "<a>" * 70 + "</a>" * 70 + "</dataset>", "X-8", "nested more than 64 deep"),
    "an encoding": ("<?xml version='1.0' encoding='x-none'?><dataset/>", "P-32", "not XML"),
    "NUL": ("<dataset>\0</dataset>", "P-32", "not XML"),
    "empty": ("", "P-32", "not XML"),
}


@pytest.mark.parametrize(("text", "rule", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_used_is_a_problem_with_its_line(tmp_path, text, rule, words):
    path, findings = tmp_path / "x.xml", Findings()
    path.write_text(text)
    assert read_wmt(path, findings) is None
    (problem,) = findings.problems
    assert (problem.rule, problem.message.startswith(words), problem.line) == (rule, True, 1), problem
    assert problem.fix


def test_a_document_type_in_another_encoding_is_found(tmp_path):
    path, findings = tmp_path / "x.xml", Findings()
    path.write_bytes(
        "<!DOCTYPE dataset [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><dataset>&a;</dataset>".encode("utf-16")
    )
    assert read_wmt(path, findings) is None
    assert [problem.rule for problem in findings.problems] == ["X-8"]


def test_the_number_of_elements_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(wmt, "MOST_ELEMENTS", 10)
    path, findings = tmp_path / "x.xml", Findings()
    path.write_text("<dataset>" + "<a/>" * 10 + "</dataset>")
    assert read_wmt(path, findings) is None
    assert [problem.message for problem in findings.problems] == ["more than 10 elements"]


def test_characters_that_xml_cannot_hold_are_replaced_and_told(tmp_path):
    data_set = DataSet("t", (Document("d", (("1",),), {"1": "a\x01b\ufffe"}),))
    path, losses = as_xml(tmp_path, data_set)
    assert read_wmt(path, Findings()).documents[0].source == {"1": "a�b�"}
    assert list(losses.found) == ["a character that XML cannot hold; U+FFFD replaces it"]


@pytest.mark.parametrize(
    ("names", "words"),
    [(("a", "A"), "differ in case alone"), (("x" * 90,), "too long for a file")],
    ids=["case", "length"],
)
def test_systems_that_would_share_a_file_are_a_problem(names, words):
    versions = tuple(Version(name, {"1": "x"}) for name in names)
    findings = Findings()
    files_of(DataSet("t", (Document("d", (("1",),), {"1": "a"}, systems=versions),)), findings)
    assert [words in problem.message for problem in findings.problems] == [True]


def test_segments_whose_names_fall_together_are_a_problem():
    both = (Document("a:b", (("c",),), {"c": "x"}), Document("a", (("b:c",),), {"b:c": "y"}))
    findings = Findings()
    files_of(DataSet("t", both), findings)
    assert not findings.valid


@pytest.mark.parametrize("name", ["Online-A", "../up", ".", "..", "a b", "ü/\\", "%41"])
def test_a_name_of_a_system_is_a_name_of_a_file_and_back(name):
    made = Path("systems") / f"{file_name(name)}.jsonl"
    assert (made.parent, system_of(made)) == (Path("systems"), name)


def test_plain_files_of_ours_become_a_test_set_and_further_columns_are_told(tmp_path):
    rows = [{"id": "1", "text": "a", "mood": "x"}, {"id": "2", "text": "b", "mood": "y"}]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "r.jsonl").write_text('{"id": "1", "references": ["A", "B"]}\n')
    findings = Findings()
    found = read_files(Given(tmp_path / "s.jsonl", tmp_path / "r.jsonl"), findings)
    (document,) = found.documents
    assert (found.id, document.id, document.paragraphs) == ("s", "document", (("1", "2"),))
    assert document.references == (Version("A", {"1": "A"}), Version("B", {"1": "B"}))
    assert [problem.message for problem in findings.problems] == ["not kept: the column 'mood' of s.jsonl"]


def test_translations_of_what_the_source_does_not_have_are_a_problem(tmp_path):
    (tmp_path / "s.jsonl").write_text('{"id": "1", "text": "a"}\n')
    (tmp_path / "x.jsonl").write_text('{"id": "1", "text": "a"}\n{"id": "7", "text": "a"}\n')
    findings = Findings()
    assert read_files(Given(tmp_path / "s.jsonl", systems={"X": tmp_path / "x.jsonl"}), findings) is None
    assert [(problem.file, problem.line) for problem in findings.problems] == [("x.jsonl", 2)]
