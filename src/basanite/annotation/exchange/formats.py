"""All formats that annotations are written in and read from, by name; files of bounded number and size (P-32, X-8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.annotation.exchange.brat import read_brat, write_brat
from basanite.annotation.exchange.conll import read_conll, write_conll
from basanite.annotation.exchange.label_studio import read_label_studio, write_label_studio
from basanite.annotation.exchange.model import LARGEST, MOST_FILES, Annotated, Losses, Place
from basanite.annotation.exchange.web_annotation import read_web_annotation, write_web_annotation
from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.package.manifest import NAME
from basanite.registry import suggestion

Files = Iterable[tuple[str, bytes]]
Writer = Callable[[Sequence[Annotated], Losses], Files]
Reader = Callable[[Path, Mapping[str, str], Findings], list[Annotated]]


@dataclass(frozen=True)
class Format:
    """One format: what it is called, and the ways out and in."""

    name: str
    title: str
    write: Writer
    read: Reader
    needs_texts: bool = False
    """Whether its files come without the texts."""


def format_named(name: str) -> Format:
    """The format of a name; an unknown one is answered with the nearest.

    >>> format_named("brat").title
    'brat standoff'
    """
    if name not in FORMATS:
        raise SettingError(f"No format of annotations is called {name!r}. {suggestion(name, tuple(FORMATS))}")
    return FORMATS[name]


def write_to(format_: Format, annotated: Sequence[Annotated], findings: Findings) -> dict[str, bytes]:
    """The files of some annotations; several annotators of one text have folders of their own where files are texts."""
    losses = Losses(format_.name)
    if format_.name not in ("brat", "conll"):
        files = dict(format_.write(annotated, losses))
    else:
        files = {}
        for who, mine in _by_annotator(annotated):
            files |= {f"{who}{name}": data for name, data in format_.write(mine, losses)}
    findings.extend(losses.problems())
    return files


def _by_annotator(annotated: Sequence[Annotated]) -> Iterator[tuple[str, list[Annotated]]]:
    makers = dict.fromkeys(one.annotator for one in annotated)
    for number, who in enumerate(makers, start=1):
        name = who if NAME.fullmatch(who) else f"annotator-{number}"  # strangers' names are no paths (X-8)
        yield (f"{name}/" if len(makers) > 1 else ""), [one for one in annotated if one.annotator == who]


def _read_brat(path: Path, texts: Mapping[str, str], findings: Findings) -> list[Annotated]:
    """A folder of texts and lines, or one of the two files; folders inside are annotators."""
    root = path if path.is_dir() else path.parent
    found = sorted(root.rglob("*.ann")) if path.is_dir() else [path.with_suffix(".ann")]
    if len(found) > MOST_FILES:
        raise UnreadableError(f"{path} has more than {MOST_FILES} files. Give fewer at a time.")
    made: list[Annotated] = []
    for ann in found:
        if ann.is_symlink() or ann.with_suffix(".txt").is_symlink():
            Place(ann.name, findings).fault(None, "it is a link", "put the file itself there")
            continue
        who = ann.parent.name if path.is_dir() and ann.parent != root else ""
        text = _text_beside(ann, texts)
        one = read_brat(ann.stem, text, read_bounded(ann, LARGEST), Place(ann.name, findings))
        made += [] if one is None else [_made_by(one, who)]
    if not found:
        Place(path.name, findings).fault(None, "there is no .ann file", "give the folder with .txt and .ann files")
    return made


def _text_beside(ann: Path, texts: Mapping[str, str]) -> bytes:
    path = ann.with_suffix(".txt")
    if not path.is_file() and ann.stem in texts:
        return texts[ann.stem].encode()
    return read_bounded(path, LARGEST)


def _made_by(one: Annotated, who: str) -> Annotated:
    return Annotated(one.document, one.text, one.objects, one.links, who, one.note)


def _read_label_studio(path: Path, texts: Mapping[str, str], findings: Findings) -> list[Annotated]:
    return read_label_studio(read_bounded(path, LARGEST), Place(path.name, findings))


def _read_conll(path: Path, texts: Mapping[str, str], findings: Findings) -> list[Annotated]:
    return read_conll(read_bounded(path, LARGEST), Place(path.name, findings), texts=dict(texts))


def _read_web_annotation(path: Path, texts: Mapping[str, str], findings: Findings) -> list[Annotated]:
    return read_web_annotation(read_bounded(path, LARGEST), Place(path.name, findings), texts=texts)


def _one(name: str, write: Callable[[Iterable[Annotated], Losses], bytes]) -> Writer:
    return lambda annotated, losses: [(name, write(annotated, losses))]


FORMATS: Final[Mapping[str, Format]] = {
    one.name: one
    for one in (
        Format("brat", "brat standoff", write_brat, _read_brat),
        Format("label-studio", "Label Studio JSON", _one("label-studio.json", write_label_studio), _read_label_studio),
        Format("conll", "CoNLL with BIO tags", _one("annotations.conll", write_conll), _read_conll),
        Format(
            "web-annotation",
            "W3C Web Annotation (JSON-LD)",
            _one("annotations.jsonld", write_web_annotation),
            _read_web_annotation,
            needs_texts=True,
        ),
    )
}
