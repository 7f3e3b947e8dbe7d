"""Data cards: what a pack holds as Croissant metadata, a datasheet, a license and attributes for a DOI (L-11).

A file `basanite-card/1` says what only people know: title, makers, license, how the data came about. Files, sizes,
digests and columns are taken from the data. What is declared and what was measured never mix.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.formats.config_file import Section, read_section
from basanite.formats.records import Place, Records, read_records
from basanite.formats.toml_file import LARGEST, Table, TomlReport, entry_lines, parse_toml
from basanite.problems import Findings

RULE: Final = "L-11"
KIND: Final = "card"
TABLES: Final[Mapping[str, str]] = {
    ".jsonl": "application/jsonlines",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".parquet": "application/x-parquet",
}
READ: Final = (".jsonl", ".csv", ".parquet")
"""Tables whose columns a reader of Croissant can take from the file."""
CONTEXT: Final[Mapping[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "equivalentProperty": "cr:equivalentProperty",
    "samplingRate": "cr:samplingRate",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
CROISSANT: Final = "http://mlcommons.org/croissant/1.0"
SPDX: Final = "https://spdx.org/licenses/"
Text = Annotated[str, Field(min_length=1, max_length=20_000)]


@dataclass(frozen=True)
class Creator(Section):
    """Somebody who made the data."""

    name: Text
    """The name as it is cited."""
    affiliation: str = ""
    """Where they work."""
    orcid: Annotated[str, Field(pattern=r"^(\d{4}-\d{4}-\d{4}-\d{3}[\dX])?$")] = ""
    """The ORCID iD: 0000-0000-0000-0000."""


@dataclass(frozen=True)
class Datasheet(Section):
    """What people should know before they use the data (Gebru et al. 2021); each answer is required."""

    motivation: Text
    """Why the data was made, by whom, and who paid."""
    composition: Text
    """What an item is, where items come from, what is missing."""
    collection: Text
    """How and when it was collected, and whether people were asked."""
    preprocessing: Text
    """What was cleaned, labeled or left out."""
    uses: Text
    """What it is for, and what it must not be used for."""
    distribution: Text
    """Who gets it, and under which conditions."""
    maintenance: Text
    """Who answers questions, and how errors are corrected."""


@dataclass(frozen=True)
class Card(Section):
    """The file of a data card."""

    title: Text
    """What the data is called."""
    description: Text
    """What it is, in a few sentences."""
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    """Major, minor, patch."""
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    """The day of publication."""
    license: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+-]{0,60}$")]
    """The identifier of SPDX, such as CC-BY-4.0; LicenseRef-NAME for one of your own, whose text is in LICENSE."""
    creators: Annotated[tuple[Creator, ...], Field(min_length=1)]
    """Who made it."""
    datasheet: Datasheet
    """What people should know."""
    publisher: str = ""
    """Who publishes it."""
    url: Annotated[str, Field(pattern=r"^(https://\S+)?$")] = ""
    """Where it is, once it is published."""
    citation: str = ""
    """How to cite it."""
    keywords: tuple[str, ...] = ()
    """Words to find it by."""


@dataclass(frozen=True)
class CardTable(Table):
    """One table of a card's file."""

    rule: ClassVar[str] = RULE
    whole_file: ClassVar[str] = "the card"


@dataclass(frozen=True)
class PackFile:
    """One file of a pack: where it is, what it is, and the columns of a table with their types."""

    name: str
    size: int
    sha256: str
    encoding: str
    rows: int | None = None
    columns: tuple[tuple[str, str], ...] = ()


def read_card(path: Path, findings: Findings) -> Card | None:
    """The card of a file; None with problems where anything is wrong."""
    found = Findings(limit=None)
    try:
        text = read_bounded(path, LARGEST).decode()
    except UnicodeDecodeError:
        TomlReport(path.name, RULE, findings).add("the file is not UTF-8", "save it as UTF-8")
        return None
    document = parse_toml(text, KIND, TomlReport(path.name, RULE, found))
    card: Card | None = None
    if document is not None:
        card = read_section(Card, CardTable(document, (), path.name, entry_lines(text), found))
    findings.extend(dict.fromkeys(found))
    return card if found.valid else None


def pack_files(folder: Path, findings: Findings) -> tuple[PackFile, ...]:
    """All files of a pack with digests, and the columns of its tables; links are refused, for they lead elsewhere."""
    files = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            raise SettingError(f"{path} is a link. Fix: put the file itself into the folder.")
        if path.is_file():
            files.append(_pack_file(path, name, findings))
    if not files:
        raise SettingError(f"{folder} holds no file. Fix: name the folder of the pack.")
    return tuple(files)


def _pack_file(path: Path, name: str, findings: Findings) -> PackFile:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    ending = path.suffix.lower()
    records = read_records(path, Place("metadata", RULE), findings) if ending in READ else None
    columns = () if records is None else tuple((column, _type(records, column)) for column in records.columns)
    rows = None if records is None else len(records)
    encoding = TABLES.get(ending, "text/plain" if ending in (".txt", ".md") else "application/octet-stream")
    return PackFile(name, path.stat().st_size, digest.hexdigest(), encoding, rows, columns)


def _type(records: Records, column: str) -> str:
    """The type of a column for Croissant; text where cells differ."""
    cells = [cell for cell in records.columns[column] if cell is not None and isinstance(cell, str | int | float)]
    if cells and all(isinstance(cell, bool) for cell in cells):
        return "sc:Boolean"
    if cells and all(isinstance(cell, int) and not isinstance(cell, bool) for cell in cells):
        return "sc:Integer"
    numbers = cells and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    return "sc:Float" if numbers else "sc:Text"


def croissant(card: Card, files: Sequence[PackFile]) -> dict[str, Any]:
    """The metadata of Croissant 1.0."""
    creators = [
        {"@type": "sc:Person", "name": one.name}
        | ({"affiliation": {"@type": "sc:Organization", "name": one.affiliation}} if one.affiliation else {})
        | ({"sameAs": f"https://orcid.org/{one.orcid}"} if one.orcid else {})
        for one in card.creators
    ]
    about: dict[str, Any] = {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "name": card.title,
        "description": card.description,
        "conformsTo": CROISSANT,
        "license": license_address(card),
        "version": card.version,
        "datePublished": card.date,
        "creator": creators,
        "citeAs": card.citation or citation(card),
        "isLiveDataset": False,
    }
    more = {"url": card.url, "keywords": list(card.keywords)}
    about |= {name: value for name, value in more.items() if value}
    if card.publisher:
        about["publisher"] = {"@type": "sc:Organization", "name": card.publisher}
    about["distribution"] = [_file_object(one) for one in files]
    about["recordSet"] = [_record_set(one) for one in files if one.columns]
    return about


def _file_object(one: PackFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": one.name,
        "name": one.name,
        "contentUrl": one.name,
        "contentSize": f"{one.size} B",
        "encodingFormat": one.encoding,
        "sha256": one.sha256,
    }


def _record_set(one: PackFile) -> dict[str, Any]:
    name = f"{re.sub('[^A-Za-z0-9]+', '-', one.name).strip('-')}-records"
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "dataType": kind,
            "source": {"fileObject": {"@id": one.name}, "extract": {"column": column}},
        }
        for column, kind in one.columns
    ]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def license_address(card: Card) -> str:
    """The address of a license of SPDX; one of one's own is the file LICENSE."""
    return "LICENSE" if card.license.startswith("LicenseRef-") else f"{SPDX}{card.license}.html"


def citation(card: Card) -> str:
    """How to cite the data where nobody said."""
    return f"{'; '.join(one.name for one in card.creators)} ({card.date[:4]}). {card.title}, version {card.version}."


def datasheet(card: Card, files: Sequence[PackFile]) -> str:
    """The datasheet as a page of Markdown: what was declared, and below it what was found in the files."""
    answers = "\n\n".join(f"## {name.capitalize()}\n\n{text.strip()}" for name, text in vars(card.datasheet).items())
    rows = "\n".join(_file_row(one) for one in files)
    makers = ", ".join(one.name + (f" ({one.affiliation})" if one.affiliation else "") for one in card.creators)
    return (
        f"# {card.title}\n\n{card.description.strip()}\n\n"
        f"Version {card.version}, {card.date}. Made by {makers}. License: {card.license}.\n\n"
        f"Cite as: {card.citation or citation(card)}\n\n{answers}\n\n"
        f"## Files\n\n| file | bytes | rows | columns | SHA-256 |\n|---|---|---|---|---|\n{rows}\n"
    )


def _file_row(one: PackFile) -> str:
    columns = ", ".join(f"`{name}`" for name, _ in one.columns)
    return f"| `{one.name}` | {one.size} | {'' if one.rows is None else one.rows} | {columns} | `{one.sha256}` |"


def datacite(card: Card) -> dict[str, Any]:
    """The attributes with which a DOI is registered (DataCite 4)."""
    creators = [
        {"name": one.name}
        | ({"affiliation": [{"name": one.affiliation}]} if one.affiliation else {})
        | ({"nameIdentifiers": [_orcid(one.orcid)]} if one.orcid else {})
        for one in card.creators
    ]
    rights = {"rightsIdentifier": card.license, "rightsUri": license_address(card)}
    return {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "creators": creators,
        "titles": [{"title": card.title}],
        "publisher": {"name": card.publisher or card.creators[0].affiliation or card.creators[0].name},
        "publicationYear": int(card.date[:4]),
        "dates": [{"date": card.date, "dateType": "Issued"}],
        "types": {"resourceTypeGeneral": "Dataset"},
        "version": card.version,
        "subjects": [{"subject": one} for one in card.keywords],
        "rightsList": [rights],
        "descriptions": [{"description": card.description, "descriptionType": "Abstract"}],
    }


def _orcid(number: str) -> dict[str, str]:
    return {"nameIdentifier": f"https://orcid.org/{number}", "nameIdentifierScheme": "ORCID"}


def write_card(card: Card, folder: Path, files: Sequence[PackFile], out: Path) -> tuple[Path, ...]:
    """The deposit: the files as they are, and beside them metadata, datasheet, license and checksums."""
    if out.exists() and any(out.iterdir()):
        raise SettingError(f"{out} is not empty. Fix: name a new folder with --out.")
    if folder.resolve() in (out.resolve(), *out.resolve().parents):
        raise SettingError(f"{out} lies in the pack. Fix: name a folder beside it with --out.")
    made = dict(_card_files(card, files))
    taken = sorted(made.keys() & {one.name for one in files})
    if taken:
        raise SettingError(f"The pack has a file called {taken[0]}, which the card would replace. Fix: rename it.")
    for one in files:
        (out / one.name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / one.name, out / one.name)
    for name, text in made.items():
        (out / name).write_text(text, encoding="utf-8")
    return tuple(out / name for name in made)


def _card_files(card: Card, files: Sequence[PackFile]) -> Iterator[tuple[str, str]]:
    yield "croissant.json", json.dumps(croissant(card, files), indent=1, ensure_ascii=False) + "\n"
    yield "DATASHEET.md", datasheet(card, files)
    yield "datacite.json", json.dumps(datacite(card), indent=1, ensure_ascii=False) + "\n"
    if not card.license.startswith("LicenseRef-"):
        yield "LICENSE", f"SPDX-License-Identifier: {card.license}\n\n{license_address(card)}\n"
    yield "SHA256SUMS", "".join(f"{one.sha256}  {one.name}\n" for one in files)


def check_license(card: Card, files: Sequence[PackFile]) -> None:
    """Refuse a license of one's own without its text."""
    if card.license.startswith("LicenseRef-") and "LICENSE" not in {one.name for one in files}:
        raise SettingError(f"The license {card.license} has no text. Fix: put it into the pack as LICENSE.")
