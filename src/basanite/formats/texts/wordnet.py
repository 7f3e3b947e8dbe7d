"""A WordNet folder, read as it is distributed: which sets of synonyms a word belongs to. Nothing is downloaded.

Only `index.noun`, `index.verb`, `index.adj` and `index.adv` are needed; `noun.exc` and its like are used where they
are there. A word that is not in an index is looked up by its base form, made by WordNet's own rules of detachment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.formats.records import digest_of

LARGEST: Final = 64 << 20
PARTS: Final = ("noun", "verb", "adj", "adv")
ENDINGS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}


@dataclass(frozen=True)
class WordNet:
    """The senses of each lemma, and irregular forms, by part of speech."""

    senses: Mapping[str, Mapping[str, tuple[str, ...]]]
    irregular: Mapping[str, Mapping[str, tuple[str, ...]]]
    digest: str = ""

    def synsets(self, word: str) -> Collection[str]:
        """The sets of synonyms that a word belongs to, in any of its base forms and parts of speech."""
        return frozenset(
            sense
            for part in PARTS
            for form in self._forms(word.lower(), part)
            for sense in self.senses[part].get(form, ())
        )

    def _forms(self, word: str, part: str) -> tuple[str, ...]:
        """The word, its irregular base forms, or else those that a known ending leaves."""
        irregular = self.irregular[part].get(word)
        if irregular:
            return (word, *irregular)
        cut = [
            word.removesuffix(old) + new for old, new in ENDINGS[part] if word.endswith(old) and len(word) > len(old)
        ]
        return (word, *cut)


def read_wordnet(folder: Path) -> WordNet:
    """Read the indexes of a WordNet folder; what is no such folder is refused with what was missing."""
    files = {name: _read(folder / name) for name in (f"index.{part}" for part in PARTS)}
    more = {name: _read(folder / name) for name in (f"{part}.exc" for part in PARTS) if (folder / name).exists()}
    senses = {part: dict(_index(files[f"index.{part}"])) for part in PARTS}
    if not any(senses.values()):
        raise SettingError(
            f"{folder} holds no line of a WordNet index: give the folder with index.noun and the others."
        )
    irregular = {part: {form: tuple(bases) for form, *bases in _lines(more.get(f"{part}.exc", b""))} for part in PARTS}
    return WordNet(senses, irregular, digest_of(sorted({**files, **more}.items())))


def _read(path: Path) -> bytes:
    try:
        return read_bounded(path, LARGEST)
    except UnreadableError as error:
        raise SettingError(f"wordnet: {error} Give the folder that holds index.noun and the other indexes.") from error


def _lines(data: bytes) -> Iterator[list[str]]:
    """The fields of each line; the licence at the top of a file is indented."""
    for line in data.decode("utf-8", "replace").splitlines():
        if line and not line.startswith(" "):
            yield line.split()


def _index(data: bytes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each lemma with its senses: lemma, part, number of senses, ..., and as many offsets at the end."""
    for fields in _lines(data):
        if len(fields) >= 6 and fields[2].isdecimal():
            offsets = fields[-int(fields[2]) :] if int(fields[2]) else []
            yield fields[0], tuple(f"{fields[1]}{offset}" for offset in offsets)
