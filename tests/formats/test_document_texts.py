"""Folders of documents: the name up to the first dot is the document, and an archive is as good as its folder."""

import tarfile

from basanite.formats.items import text_of
from basanite.formats.records import Place
from basanite.formats.texts.document_texts import is_documents, read_documents
from basanite.problems import Findings

PLACE = Place("reference", "T-3")


def folder(tmp_path, **files):
    path = tmp_path / "translation"
    path.mkdir()
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (path / f"{name}.translation.eng.txt").write_bytes(data)
    return path


def read(path, **options):
    findings = Findings()
    return read_documents(path, text_of, PLACE, findings, **options), findings


def test_a_document_is_one_item_named_by_its_file(tmp_path):
    items, findings = read(folder(tmp_path, doc2="second\nline\n", doc1="first\r\n"))
    assert findings.valid
    assert items.ids == ("doc1", "doc2")
    assert items.content == ("first\n", "second\nline\n")
    assert items.columns == {"document": ("doc1", "doc2")}


def test_lines_can_be_items_of_their_document(tmp_path):
    items, _ = read(folder(tmp_path, doc1="a\n\nb\n", doc2="c"), lines=True)
    assert dict(zip(items.ids, items.content, strict=True)) == {
        "doc1:1": "a",
        "doc1:2": "",
        "doc1:3": "b",
        "doc2:1": "c",
    }
    assert items.columns["document"] == ("doc1", "doc1", "doc1", "doc2")


def test_more_than_nine_lines_stay_in_their_order(tmp_path):
    items, _ = read(folder(tmp_path, d="\n".join(map(str, range(1, 13)))), lines=True)
    assert items.content == tuple(map(str, range(1, 13)))


def test_an_archive_has_the_items_and_the_digest_of_its_folder(tmp_path):
    path = folder(tmp_path, doc1="a", doc2="b")
    with tarfile.open(tmp_path / "both.tgz", "w:gz") as archive:
        for file in sorted(path.iterdir()):
            archive.add(file, file.name)
    (from_folder, _), (from_archive, _) = read(path), read(tmp_path / "both.tgz")
    assert is_documents(path)
    assert is_documents(tmp_path / "both.tgz")
    assert (from_archive.ids, from_archive.content) == (from_folder.ids, from_folder.content)
    assert from_archive.digest == from_folder.digest


def test_files_that_are_no_text_or_come_twice_are_problems(tmp_path):
    path = folder(tmp_path, bad=b"one\ntwo \xff", nul=b"a\0b", twice="a")
    (path / "twice.txt").write_text("b")
    _, findings = read(path)
    places = {(problem.file, problem.line) for problem in findings.problems}
    assert ("bad.translation.eng.txt", 2) in places
    assert ("nul.translation.eng.txt", None) in places
    assert any(problem.found == "twice" for problem in findings.problems)
    assert len(places) == 3


def test_links_out_of_the_folder_are_refused(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    path = folder(tmp_path, doc1="a")
    (path / "doc2.txt").symlink_to(secret)
    items, findings = read(path)
    assert not findings.valid
    assert "hidden" not in items.content
