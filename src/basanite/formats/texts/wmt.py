"""WMT's XML of test sets: documents with a source, references by translator and translations by system (P-32).

    <dataset id="…"><collection id="…"><doc id="…" origlang="en" domain="news">
      <src lang="en"><p><seg id="1">…</seg></p></src> <ref lang="de" translator="A">… <hyp lang="de" system="S">…

Paragraphs are those of the source. References and systems are in the order of their names. What else a file says is
left behind, and reported. The XML of strangers has no document type and no entities, and is neither deep nor endless;
every element knows its line, which `xml.etree` does not tell (X-8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from basanite.formats.foreign_files import RULE, Losses
from basanite.formats.single_file import read_unpacked
from basanite.problems import Findings, Problem, Where, shortened

DEEPEST: Final = 64
MOST_ELEMENTS: Final = 1_000_000
LARGEST: Final = 256 << 20
XML_RULE: Final = "X-8"
NAMED: Final = {"ref": "translator", "hyp": "system"}
"""Which attribute says who wrote a version."""
FACTS: Final = ("collection", "origlang", "domain", "testsuite")
"""What is known of whole documents; `collection` is the element around them."""
ALLOWED: Final = {
    "dataset": {"id"},
    "collection": {"id"},
    "doc": {"id", *FACTS[1:]},
    "src": {"lang"},
    "ref": {"lang", "translator"},
    "hyp": {"lang", "system"},
    "p": set[str](),
    "seg": {"id"},
}
INSIDE: Final = {"dataset": {"collection", "doc"}, "collection": {"doc"}, "doc": {"src", "ref", "hyp"}}
ID_LENGTH: Final = 400
NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, not even escaped."""


@dataclass
class Element:
    """One element: its name, attributes, the line it begins on, and what is in it, in order."""

    tag: str
    attributes: dict[str, str]
    line: int
    content: list[str | Element] = field(default_factory=list)

    @property
    def elements(self) -> list[Element]:
        """The elements in it."""
        return [part for part in self.content if isinstance(part, Element)]

    @property
    def text(self) -> str:
        """All text in it, marked up or not."""
        return "".join(part if isinstance(part, str) else part.text for part in self.content)

    def walk(self) -> Iterator[Element]:
        """It and all elements below it."""
        yield self
        for part in self.elements:
            yield from part.walk()


class _RefusedError(ValueError):
    """The bytes are XML, but of a kind that nobody needs and that can do harm. Never leaves this module."""


class _Builder:
    """Builds the elements as the parser tells of them, within bounds."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.open: list[Element] = []
        self.root: Element | None = None
        self.number = 0

    def doctype(self, *_: Any) -> NoReturn:
        """A document type can declare entities that grow or read other files: none is let in."""
        raise _RefusedError("a document type (DOCTYPE) is not allowed")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self.number += 1
        if len(self.open) >= DEEPEST:
            raise _RefusedError(f"nested more than {DEEPEST} deep")
        if self.number > MOST_ELEMENTS:
            raise _RefusedError(f"more than {MOST_ELEMENTS} elements")
        made = Element(tag, attributes, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].content.append(made)
        else:
            self.root = made
        self.open.append(made)

    def end(self, _: str) -> None:
        """An element ends."""
        self.open.pop()

    def characters(self, text: str) -> None:
        """Text in the innermost element."""
        self.open[-1].content.append(text)


def parse_xml(data: bytes, file: str, findings: Findings, *, rule: str, where: Where) -> Element | None:
    """The outermost element of an XML text; None, and a problem with its line, if it cannot be had."""
    builder = _Builder()
    try:
        builder.parser.Parse(data, True)
    except _RefusedError as error:
        fix = "remove it and write characters out" if "DOCTYPE" in str(error) else "is it the right file?"
        line = builder.parser.CurrentLineNumber
        findings.add(Problem(XML_RULE, file, line, None, str(error), fix, where=where))
    except expat.ExpatError as error:
        words = f"not XML: {expat.ErrorString(error.code)}"
        findings.add(Problem(rule, file, error.lineno, None, words, "write well-formed XML in UTF-8", where=where))
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        findings.add(Problem(rule, file, 1, None, f"not XML: {error}", "write well-formed XML in UTF-8", where=where))
    return builder.root if findings.valid else None


@dataclass(frozen=True)
class Version:
    """A document as one translator or system wrote it, by segment."""

    name: str
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Document:
    """One document: its segments by paragraph, the source of each, and its translations."""

    id: str
    paragraphs: tuple[tuple[str, ...], ...]
    source: Mapping[str, str]
    references: tuple[Version, ...] = ()
    systems: tuple[Version, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    source_lang: str = ""
    target_lang: str = ""


@dataclass(frozen=True)
class DataSet:
    """A test set with what is known of it."""

    id: str
    documents: tuple[Document, ...]


def read_wmt(path: Path, findings: Findings) -> DataSet | None:
    """The test set in a file, with all that is wrong or was left behind; None if it cannot be used."""
    root = parse_xml(read_unpacked(path, LARGEST), path.name, findings, rule=RULE, where="reference")
    return None if root is None else data_set_of(root, path.name, findings)


def data_set_of(root: Element, file: str, findings: Findings) -> DataSet | None:
    """The test set that an XML text holds."""
    reader = _Reader(file, findings)
    found = reader.data_set(root)
    findings.extend(reader.losses.problems())
    return found if findings.valid else None


class _Reader:
    """Reads one file; `losses` gathers what is left behind."""

    def __init__(self, file: str, findings: Findings) -> None:
        self.file, self.findings, self.losses = file, findings, Losses(file)

    def fault(self, at: Element, message: str, fix: str, found: str = "") -> None:
        """Something is wrong."""
        problem = Problem(RULE, self.file, at.line, None, message, fix, shortened(found), where="reference")
        self.findings.add(problem)

    def data_set(self, root: Element) -> DataSet | None:
        """The whole file."""
        if root.tag != "dataset":
            self.fault(
                root, f"the outermost element is {root.tag[:60]!r}", "give WMT's XML, which begins with <dataset>"
            )
            return None
        docs = list(self._docs(root))
        self._twice([at for at, _ in docs], "a document appears twice")
        documents = [document for at, collection in docs if (document := self._document(at, collection))]
        if not documents and self.findings.valid:
            self.fault(root, "there is no document with segments", "give a file with <doc> and <seg>")
        return DataSet(root.attributes.get("id", ""), tuple(documents))

    def _docs(self, root: Element) -> Iterator[tuple[Element, str]]:
        for part in self._expected_elements(root):
            if part.tag == "doc":
                yield part, ""
            else:
                yield from ((doc, part.attributes.get("id", "")) for doc in self._expected_elements(part))

    def _expected_elements(self, at: Element) -> Iterator[Element]:
        """The elements in one that belong there; others, other attributes and loose text are left behind."""
        self._attributes(at)
        if any(part.strip() for part in at.content if isinstance(part, str)):
            self.losses.add(f"text directly in <{at.tag}>")
        for part in at.elements:
            if part.tag in INSIDE.get(at.tag, ()):
                yield part
            else:
                self.losses.add(f"the element <{part.tag[:60]}> in <{at.tag}>")

    def _attributes(self, at: Element) -> None:
        for name in at.attributes:
            if name not in ALLOWED[at.tag]:
                self.losses.add(f"the attribute {name[:60]!r} of <{at.tag}>", at.attributes[name])

    def _document(self, at: Element, collection: str) -> Document | None:
        name = self._id(at)
        parts = list(self._expected_elements(at))
        sources = [part for part in parts if part.tag == "src"]
        if len(sources) != 1:
            self.fault(at, f"a document has {len(sources)} sources", "write one <src> in every <doc>", name)
            return None
        paragraphs = self._paragraphs(sources[0])
        source = {id_: text for paragraph in paragraphs for id_, text in paragraph}
        if not source:
            self.losses.add("a document without segments", name)
            return None
        layout = tuple(tuple(id_ for id_, _ in paragraph) for paragraph in paragraphs)
        facts = {fact: at.attributes[fact] for fact in FACTS[1:] if at.attributes.get(fact)}
        target = next((part.attributes.get("lang", "") for part in parts if part.tag in NAMED), "")
        made = {tag: self._versions([part for part in parts if part.tag == tag], layout, target) for tag in NAMED}
        return Document(
            name,
            layout,
            source,
            made["ref"],
            made["hyp"],
            {"collection": collection, **facts} if collection else facts,
            sources[0].attributes.get("lang", ""),
            target,
        )

    def _id(self, at: Element) -> str:
        name = at.attributes.get("id", "")
        if not name.strip() or len(name) > ID_LENGTH:
            self.fault(at, f"<{at.tag}> has no id, or a very long one", f"write 1 to {ID_LENGTH} characters", name)
        return name

    def _versions(self, several: list[Element], layout: tuple[tuple[str, ...], ...], lang: str) -> tuple[Version, ...]:
        found: dict[str, Version] = {}
        for at in several:
            name = at.attributes.get(NAMED[at.tag], "")
            if name in found or (at.tag == "hyp" and not name.strip()):
                message = f"two <{at.tag}> of one document have the same {NAMED[at.tag]}, or one has none"
                self.fault(at, message, "name each of them", name)
            elif texts := self._texts(at, layout, lang):
                found[name] = Version(name, texts)
        return tuple(found[name] for name in sorted(found))

    def _texts(self, at: Element, layout: tuple[tuple[str, ...], ...], lang: str) -> dict[str, str]:
        """The texts of a version, as far as the source has their segments."""
        if at.attributes.get("lang", "") != lang:
            self.losses.add(f"a second language of the translations of a document, {at.attributes.get('lang', '')!r}")
            return {}
        paragraphs = self._paragraphs(at)
        texts = {id_: text for paragraph in paragraphs for id_, text in paragraph}
        known = {id_: texts[id_] for paragraph in layout for id_ in paragraph if id_ in texts}
        for id_ in sorted(texts.keys() - known.keys()):
            self.losses.add(f"a segment of a <{at.tag}> that the source does not have", id_)
        own = [[id_ for id_, _ in paragraph if id_ in known] for paragraph in paragraphs]
        given = [[id_ for id_ in paragraph if id_ in known] for paragraph in layout]
        if list(filter(None, own)) != list(filter(None, given)):
            self.losses.add(f"order and paragraphs of a <{at.tag}> that differ from the source's", f"line {at.line}")
        if not texts:
            self.losses.add(f"a <{at.tag}> without segments", f"line {at.line}")
        return known

    def _paragraphs(self, at: Element) -> list[list[tuple[str, str]]]:
        """The segments of a version by paragraph; such as stand in none are one of their own."""
        self._attributes(at)
        paragraphs: list[list[Element]] = [[]]
        for part in at.elements:
            if part.tag == "seg":
                paragraphs[-1].append(part)
            elif part.tag == "p":
                self._attributes(part)
                paragraphs += [[seg for seg in part.elements if seg.tag == "seg"], []]
            self._strange(part, at)
        self._twice([seg for several in paragraphs for seg in several], "a segment appears twice in one version")
        return [[(self._id(seg), self._text(seg)) for seg in several] for several in paragraphs if several]

    def _strange(self, part: Element, at: Element) -> None:
        around = [part] if part.tag not in ("p", "seg") else []
        inside = [one for one in part.elements if one.tag != "seg"] if part.tag == "p" else []
        for one in (*around, *inside):
            self.losses.add(f"the element <{one.tag[:60]}> in <{at.tag}>")
        if part.tag == "p" and any(text.strip() for text in part.content if isinstance(text, str)):
            self.losses.add("text in a <p> that is in no <seg>")

    def _twice(self, several: list[Element], message: str) -> None:
        seen = set[str]()
        for one in several:
            name = one.attributes.get("id", "")
            if name in seen:
                self.fault(one, message, f"give every {one.tag} its own id", name)
            seen.add(name)

    def _text(self, seg: Element) -> str:
        self._attributes(seg)
        for part in seg.elements:
            self.losses.add(f"the mark <{part.tag[:60]}> within a segment; its text is kept")
        return seg.text


def write_wmt(data_set: DataSet, losses: Losses) -> Iterator[str]:
    """The lines of such a file; characters that XML cannot hold are replaced, and told."""
    spell = _Spelling(losses)
    yield "<?xml version='1.0' encoding='utf-8'?>\n"
    yield f"<dataset id={spell.quote(data_set.id)}>\n"
    for collection, documents in groupby(data_set.documents, lambda document: document.facts.get("collection", "")):
        yield from _collection_lines(collection, documents, spell)
    yield "</dataset>\n"


@dataclass(frozen=True)
class _Spelling:
    """Text as XML holds it."""

    losses: Losses

    def _replace_forbidden(self, text: str) -> str:
        kept = NO_XML.sub("�", text)
        if kept != text:
            self.losses.add("a character that XML cannot hold; U+FFFD replaces it", text)
        return kept

    def quote(self, text: str) -> str:
        """A value of an attribute, in quotes."""
        return quoteattr(self._replace_forbidden(text), {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})

    def text(self, text: str) -> str:
        """Text between marks; carriage returns are escaped, or a parser would make them line feeds."""
        return escape(self._replace_forbidden(text), {"\r": "&#13;"})

    def marks(self, **attributes: str) -> str:
        """Attributes, those that say something."""
        return "".join(f" {name}={self.quote(value)}" for name, value in attributes.items() if value)


def _collection_lines(collection: str, documents: Iterable[Document], spell: _Spelling) -> Iterator[str]:
    if collection:
        yield f"  <collection id={spell.quote(collection)}>\n"
    for document in documents:
        yield from _document_lines(document, spell)
    if collection:
        yield "  </collection>\n"


def _document_lines(document: Document, spell: _Spelling) -> Iterator[str]:
    facts = {fact: document.facts.get(fact, "") for fact in FACTS[1:]}
    yield f"  <doc id={spell.quote(document.id)}{spell.marks(**facts)}>\n"
    yield from _version_lines("src", spell.marks(lang=document.source_lang), document.source, document, spell)
    for tag, versions in (("ref", document.references), ("hyp", document.systems)):
        for version in versions:
            marks = spell.marks(lang=document.target_lang, **{NAMED[tag]: version.name})
            yield from _version_lines(tag, marks, version.texts, document, spell)
    yield "  </doc>\n"


def _version_lines(
    tag: str, marks: str, texts: Mapping[str, str], document: Document, spell: _Spelling
) -> Iterator[str]:
    yield f"    <{tag}{marks}>\n"
    for paragraph in document.paragraphs:
        ids = [id_ for id_ in paragraph if id_ in texts]
        lines = [f"        <seg id={spell.quote(id_)}>{spell.text(texts[id_])}</seg>\n" for id_ in ids]
        yield from ("      <p>\n", *lines, "      </p>\n") if lines else ()
    yield f"    </{tag}>\n"
