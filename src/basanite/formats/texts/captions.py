"""Captions in the layout of COCO, and the words in them as the COCO evaluation counts them, or nearly so, without Java.

Annotations are an object with a list `annotations` of `{"image_id", "caption"}`, any number for each image, and perhaps
a list `images` of `{"id"}`; the list alone will do. Results are such a list too, with one caption for each image.

Words are in lower case and split as the Penn Treebank has them (`is n't`, `dog 's`, `can not`, `$ 5`); hyphens, slashes
and dots inside a word stay; then 17 marks are dropped: two quotes each way, round and curly brackets, and
. ? ! , : - -- ... ;
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from basanite.formats.items import ID_LENGTH, Items
from basanite.formats.json_document import JsonDocument, id_text, read_json
from basanite.formats.records import Place
from basanite.problems import Findings, Problem

DROPPED: Final = frozenset(["''", "'", "``", "`", "(", ")", "{", "}", ".", "?", "!", ",", ":", "-", "--", "...", ";"])

CACHED: Final = 50
"""Chunks shorter than this are remembered; longer ones are seldom words and never words with a clitic."""

_MARKS = r"\s!-/:-@\[-^`{-~¡«»¿€£¥\u2000-\u206f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
_IN = f"[^{_MARKS}]"  # a character of a word; marks that combine with one belong to it in every script
_TOKEN = re.compile(
    rf"""
      https?://\S+ | {_IN}+@{_IN}+(?:\.{_IN}+)+
    | (?<!{_IN})(?:mr|mrs|ms|dr|st|vs|etc|jr|sr|prof|no(?=\.\d))\.
    | (?<!{_IN})'(?:\d\ds|n')(?!{_IN})
    | (?<!{_IN}){_IN}{{1,2}}(?:\.[^{_MARKS}\d])+\.(?!{_IN})
    | (?:(?<!\S)-)?\.?\d+(?:[.,:]\d+)*(?!{_IN}|[-/'.]{_IN})
    | {_IN}+(?:(?:[-'./]|(?<=\d)[,:](?=\d)|&(?=[a-z](?!{_IN}))){_IN}+)*
    | [@\#](?!\d){_IN}+ | \.\.+ | --+ | [^\s]
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(r"(.+?)(n't|'(?:s|re|ve|ll|d|m))((?:'.*)?)")
_TWO_WORDS = {
    "cannot": "can not",
    "gonna": "gon na",
    "wanna": "wan na",
    "gotta": "got ta",
    "lemme": "lem me",
    "gimme": "gim me",
}
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "..."})

Tokeniser = Callable[[str], tuple[str, ...]]
LONGEST: Final = 10_000
"""Characters of a caption: nobody writes a longer one, and aligning its words would take hours."""
REFUSED: Final = "refused"
FIRST: Final = "first"
SEVERAL: Final = (REFUSED, FIRST)
"""What becomes of several captions of one system for one image."""
ONE_CAPTION: Final = "keep one for each image"
FIRST_HINT: Final = "`--set several=first` counts the first of each"
SHOWN_NAMES: Final = 6


def coco_words(caption: str) -> tuple[str, ...]:
    """The words of a caption as the COCO evaluation counts them, or nearly so.

    >>> coco_words('The man isn\\'t on a "black-and-white" bench, is he?')
    ('the', 'man', 'is', "n't", 'on', 'a', 'black-and-white', 'bench', 'is', 'he')
    """
    text = caption.lower()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.translate(_QUOTES))
    return tuple(word for chunk in text.split() for word in (_chunk(chunk) if len(chunk) < CACHED else _words(chunk)))


def split_words(caption: str) -> tuple[str, ...]:
    """The words of a caption that is tokenised already: what stands between white space.

    >>> split_words("a dog  's bone")
    ('a', 'dog', "'s", 'bone')
    """
    return tuple(caption.split())


def _words(chunk: str) -> tuple[str, ...]:
    """The words in what stands between white space."""
    return tuple(part for token in _TOKEN.findall(chunk) for part in _parts(token))


_chunk = lru_cache(maxsize=100_000)(_words)


def _parts(token: str) -> tuple[str, ...]:
    """A token without its clitics, and these; nothing if it is one of the marks that are dropped, or a row of them."""
    if token in DROPPED or token == '"' or not token.strip(".") or not token.strip("-"):
        return ()
    if token in _TWO_WORDS:
        return tuple(_TWO_WORDS[token].split())
    found = _CLITIC.fullmatch(token) if "'" in token and len(token) < CACHED else None
    if found is None:
        return (token,)
    return (found[1], found[2], *(_parts(found[3]) if found[3] else ()))


TOKENISERS: Final[dict[str, Tokeniser]] = {"coco": coco_words, "none": split_words}


@dataclass(frozen=True)
class _Entry:
    """One caption of one image."""

    image: str
    caption: str
    line: int | None


def read_annotations(path: Path, place: Place, findings: Findings) -> Items | None:
    """The captions of people: the content of each image is a tuple of texts, in the order of the file."""
    document = read_json(path, place, findings, like="COCO")
    if document is None:
        return None
    listed = document.value.get("annotations") if isinstance(document.value, dict) else document.value
    if not isinstance(listed, list):
        message, fix = "there is no list of annotations", 'write {"annotations": [{"image_id": 1, "caption": "…"}, …]}'
        findings.add(document.problem(None, message, fix))
        return None
    if _lacks_captions(listed, document, findings):
        return None
    captions: dict[str, list[_Entry]] = defaultdict(list)
    for entry in _entries(listed, document, findings):
        captions[entry.image].append(entry)
    _check_images(captions, document, findings)
    content = tuple(tuple(entry.caption for entry in entries) for entries in captions.values())
    return _items(document, tuple(captions), content, [entries[0].line for entries in captions.values()])


def _lacks_captions(listed: Sequence[Any], document: JsonDocument, findings: Findings) -> bool:
    """Whether no entry of a list has a caption: COCO has files of the same layout for objects and poses (D-7)."""
    entries = [entry for entry in listed if isinstance(entry, dict)]
    if len(entries) < 2 or any("caption" in entry for entry in entries):
        return False
    names = ", ".join(sorted(entries[0])[:SHOWN_NAMES])
    message, fix = (
        f"none of {len(entries)} entries has a caption",
        "give the file of captions, such as captions_val2014",
    )
    findings.add(document.problem(None, message, fix, names))
    return True


def read_results(path: Path, place: Place, findings: Findings, *, several: str = REFUSED) -> Items | None:
    """The captions of a system: one text for each image; of several the first where `several` says so."""
    document = read_json(path, place, findings, like="COCO")
    if document is None:
        return None
    if not isinstance(document.value, list):
        fix = 'write [{"image_id": 1, "caption": "…"}, …]'
        findings.add(document.problem(None, "this is not a list of results", fix))
        return None
    if _lacks_captions(document.value, document, findings):
        return None
    kept: dict[str, _Entry] = {}
    further: dict[str, _Entry] = {}
    refused: list[str | None] = []
    for entry in _entries(document.value, document, findings, refused):
        if entry.image in kept:
            further.setdefault(entry.image, entry)
        kept.setdefault(entry.image, entry)
    findings.extend(_repeated_images(further, len(kept), document, several))
    content = tuple(entry.caption for entry in kept.values())
    items = _items(document, tuple(kept), content, [entry.line for entry in kept.values()])
    return replace(items, refused=frozenset(filter(None, refused)), lost=refused.count(None))


def _repeated_images(
    further: Mapping[str, _Entry], images: int, document: JsonDocument, several: str
) -> Iterator[Problem]:
    """What is said of images with several captions: all in one sentence if the first is taken or most have them."""
    if further and (several == FIRST or 2 * len(further) > images > 1):
        name, entry = next(iter(further.items()))
        message = f"{len(further)} of {images} images have several captions, such as {name!r}"
        if several == FIRST:
            fix = "nothing, if the first of each is to count; else keep one for each image"
            yield document.problem(entry.line, f"{message}: the first of each counts", fix, name, severity="warn")
            return
        yield document.problem(entry.line, message, ONE_CAPTION, name, hint=FIRST_HINT)
        return
    for name, entry in further.items():
        yield document.problem(entry.line, f"image {name!r} has several captions", ONE_CAPTION, name, hint=FIRST_HINT)


def _items(
    document: JsonDocument, ids: tuple[str, ...], content: tuple[Any, ...], lines: Sequence[int | None]
) -> Items:
    places = [line or 1 for line in lines]
    return Items(document.file, ids, content, places, document.digest)


def _entries(
    listed: Sequence[Any], document: JsonDocument, findings: Findings, refused: list[str | None] | None = None
) -> Iterator[_Entry]:
    """The captions of a list; what is none is reported with its number and, if possible, its line, and `refused`
    gets the image that it was for, or None."""
    lost = [] if refused is None else refused
    for number, (entry, line) in enumerate(zip(listed, document.lines("image_id", len(listed)), strict=True), start=1):
        if not isinstance(entry, dict):
            message, fix = f"entry {number} is not an object", 'write {"image_id": 1, "caption": "…"}'
            findings.add(document.problem(line, message, fix, entry))
            lost.append(None)
            continue
        image, caption = id_text(entry.get("image_id"), ID_LENGTH), entry.get("caption")
        if image is None:
            fix = f"write a whole number or a text of 1 to {ID_LENGTH} characters"
            findings.add(document.problem(line, f"entry {number} has no image_id", fix, entry.get("image_id", "")))
            lost.append(None)
        elif not isinstance(caption, str) or len(caption) > LONGEST:
            what = "a caption that is too long" if isinstance(caption, str) else "no caption"
            fix = f'write "caption": "…" with at most {LONGEST} characters'
            findings.add(document.problem(line, f"entry {number} has {what}", fix, caption if caption else ""))
            lost.append(image)
        else:
            yield _Entry(image, caption, line)


def _check_images(captions: Mapping[str, Sequence[_Entry]], document: JsonDocument, findings: Findings) -> None:
    """If the file lists its images: each is one, has a caption, and no other image has any."""
    listed = document.value.get("images") if isinstance(document.value, dict) else None
    if listed is None:
        return
    if not isinstance(listed, list):
        findings.add(document.problem(None, "images is not a list", 'write "images": [{"id": 1}, …], or leave it out'))
        return
    names = {id_text(image.get("id"), ID_LENGTH) if isinstance(image, dict) else None for image in listed}
    if None in names:
        findings.add(document.problem(None, "an image in the list of images has no id", 'write {"id": 1} for each'))
        names.discard(None)
    for name, entries in captions.items():
        if name not in names:
            message, fix = f"image {name!r} is not in the list of images", "list it, or leave its captions out"
            findings.add(document.problem(entries[0].line, message, fix, name))
    for name in sorted(name for name in names if name is not None and name not in captions):
        message = f"image {name!r} has no caption, so it is left out"
        findings.add(document.problem(None, message, "write at least one caption for it", name, severity="warn"))
