"""What the plan's packs are called: periods, languages, document sets, query sets, domains, folders and documents.

Archive names, data-set trees and the pack builder all speak of the same packs, so their grammar stands here once.
Both spellings that are in use are taken (C43); one of them, the shorter, is what the program works with.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from basanite.formats.datasets.domains import CODE, shipped_domains

PERIOD = re.compile(r"BASE|OP(?:TION)?[1-9]")
LANGUAGE = re.compile(r"[1-9][A-Z]")
DATASET = re.compile(r"(?:DEV|ANALYSIS|EVAL)[1-3]?")
"""The plan has three packs of each kind at most, and an archive's name can tell no more."""
QUERY_SET = re.compile(r"QUERY[1-3]")
DOMAIN = CODE
FOLDER = re.compile(
    rf"IARPA_MATERIAL[-_](?P<period>{PERIOD.pattern})-(?P<language>{LANGUAGE.pattern})"
    rf"(?:-(?P<pack>BUILD|{DATASET.pattern}))?(?:_v[0-9]+(?:\.[0-9]+)*)?"
)
DOCUMENT = re.compile(rf"MATERIAL_(?P<period>{PERIOD.pattern})-(?P<language>{LANGUAGE.pattern})_(?P<number>[0-9]{{8}})")

OPEN_QUERY_SETS = frozenset({"QUERY1"})
"""Sets that teams may study; results on them never count toward the final value (M20)."""

GENRES: Mapping[str, str] = {
    "NT": "news text",
    "TT": "topical text",
    "BT": "blog text",
    "NB": "news broadcast",
    "TB": "topical broadcast",
    "CS": "conversational speech",
}
AUDIO_GENRES = ("NB", "TB", "CS")


@dataclass(frozen=True, slots=True)
class TreeName:
    """What the name of a data set's folder says."""

    period: str
    language: str
    pack: str = ""

    def owns(self, document: re.Match[str]) -> bool:
        """Whether a document's identifier belongs to this period and language, in either spelling."""
        return (plain_period(document["period"]), document["language"]) == (self.period, self.language)


def tree_name(folder: str) -> TreeName | None:
    """The period and language that a folder is named after, in either spelling (C43).

    >>> tree_name("IARPA_MATERIAL-OPTION1-2B") == tree_name("IARPA_MATERIAL_OP1-2B")
    True
    """
    match = FOLDER.fullmatch(folder)
    return TreeName(plain_period(match["period"]), match["language"], match["pack"] or "") if match else None


def plain_period(period: str) -> str:
    """The period in the spelling of the released packs: OP1 for OPTION1 (C43)."""
    return period.replace("OPTION", "OP")


def domains_of(language: str, stages: Iterable[str] | None = None) -> tuple[str, ...]:
    """The domains of a language, of all its stages or of some (M75); none for a language nobody knows.

    >>> domains_of("1S", "XY")
    ('BUS', 'GOV', 'LAW', 'MIL')
    """
    catalogue = shipped_domains()
    return tuple(sorted(catalogue.domains_of(language, stages))) if language in catalogue.stages else ()


def all_domains() -> tuple[str, ...]:
    """Every code there is, sorted."""
    return tuple(sorted(shipped_domains().domains))


def split_sets(text: str) -> tuple[str, ...] | None:
    """The query sets of a value such as QUERY2QUERY3, or None if it is no such value (C29)."""
    return _pieces(text, QUERY_SET)


def split_datasets(text: str) -> tuple[str, ...] | None:
    """The packs of a data set such as EVAL1EVAL2, or None if these are not packs that are scored together (C30).

    >>> split_datasets("ANALYSIS1DEV"), split_datasets("EVAL1DEV")
    (('ANALYSIS1', 'DEV'), None)
    """
    packs = _pieces(text, DATASET)
    families = {family(pack) for pack in packs or ()}
    return packs if len(families) == 1 or families == {"ANALYSIS", "DEV"} else None


def joined_packs(text: str) -> str:
    """A data set as the calendar spells it, from that spelling or from that of archive names.

    >>> joined_packs("EVAL1EVAL2"), joined_packs("EVAL1+EVAL2"), joined_packs("REPORTS")
    ('EVAL1+EVAL2', 'EVAL1+EVAL2', 'REPORTS')
    """
    return "+".join(split_datasets(text) or (text,))


def family(pack: str) -> str:
    """The family that a pack belongs to: EVAL for EVAL2."""
    return pack.rstrip("0123456789")


def superset(pack: str, released: Collection[str]) -> tuple[str, ...]:
    """The packs that are scored together once these are out: all of the same family (M63, C30).

    >>> superset("EVAL2", ["DEV", "EVAL1", "EVAL2", "ANALYSIS1"])
    ('EVAL1', 'EVAL2')
    """
    return tuple(sorted(other for other in {pack, *released} if family(other) == family(pack)))


def _pieces(text: str, pattern: re.Pattern[str]) -> tuple[str, ...] | None:
    """The names that a text is made of, each once and numbers rising within a family; else None."""
    found = pattern.findall(text)
    whole = "".join(found) == text and bool(text)
    return tuple(found) if whole and _rising(found) else None


def _rising(names: Sequence[str]) -> bool:
    by_family: dict[str, list[str]] = {}
    for name in names:
        by_family.setdefault(family(name), []).append(name)
    return all(members == sorted(set(members)) for members in by_family.values())
