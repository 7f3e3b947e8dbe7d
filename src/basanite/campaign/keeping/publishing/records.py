"""What other programs read: citation, DataCite and RO-Crate metadata of the published site."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from basanite import __version__
from basanite.reports.formats.latex import escaped

CRATE = "ro-crate-metadata.json"
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
PROFILE = "https://w3id.org/ro/crate/1.1"
TYPES = {
    ".bib": "application/x-bibtex",
    ".cff": "application/yaml",
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".tgz": "application/gzip",
    ".toml": "application/toml",
}


@dataclass(frozen=True)
class Work:
    """What is published, by whom, when."""

    slug: str
    title: str
    version: str
    organiser: str
    on: date
    licence: str = ""
    address: str = ""

    @property
    def summary(self) -> str:
        """One sentence about it."""
        return f"Released results, runs, receipts and plan of the evaluation campaign “{self.title}”."


def citation(work: Work) -> str:
    """CITATION.cff; texts are written as JSON strings, which YAML reads as they are."""
    lines = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them.",
        "title": work.title,
        "type": "dataset",
        "version": work.version,
        "date-released": work.on.isoformat(),
        **({"license": work.licence} if work.licence else {}),
        **({"url": work.address} if work.address else {}),
    }
    text = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in lines.items())
    return f"{text}authors:\n  - name: {json.dumps(work.organiser, ensure_ascii=False)}\n"


def bibtex(work: Work) -> str:
    """The entry for a paper's list of references."""
    fields = {
        "author": f"{{{escaped(work.organiser)}}}",
        "title": f"{{{escaped(work.title)}}}",
        "year": str(work.on.year),
        "version": escaped(work.version),
        "note": "Evaluation campaign: results, runs and receipts",
        **({"url": escaped(work.address)} if work.address else {}),
    }
    inside = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{work.slug.replace('_', '-')}-{work.on.year},\n{inside}\n}}\n"


def datacite(work: Work) -> str:
    """The attributes with which a DOI is registered (DataCite 4)."""
    content = {
        "creators": [{"name": work.organiser, "nameType": "Organizational"}],
        "dates": [{"date": work.on.isoformat(), "dateType": "Issued"}],
        "descriptions": [{"description": work.summary, "descriptionType": "Abstract"}],
        "publicationYear": work.on.year,
        "publisher": {"name": work.organiser},
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "subjects": [{"subject": "evaluation of AI systems"}],
        "titles": [{"title": work.title}],
        "types": {"resourceType": "Evaluation results", "resourceTypeGeneral": "Dataset"},
        "version": work.version,
        **({"rightsList": [{"rights": work.licence}]} if work.licence else {}),
        **({"url": work.address} if work.address else {}),
    }
    return _json(content)


def crate(work: Work, files: Iterable[tuple[str, int, str]]) -> str:
    """RO-Crate 1.1: the site as a data set, with every file, its size and its sha256."""
    parts = [_file(path, size, digest) for path, size, digest in sorted(files)]
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "author": {"@id": "#organiser"},
        "datePublished": work.on.isoformat(),
        "description": work.summary,
        "hasPart": [{"@id": part["@id"]} for part in parts],
        "license": work.licence or "No licence was stated.",
        "name": work.title,
        "version": work.version,
    }
    about = {"@id": CRATE, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": {"@id": PROFILE}}
    organiser = {"@id": "#organiser", "@type": "Organization", "name": work.organiser}
    tool = {"@id": "#basanite", "@type": "SoftwareApplication", "name": "Basanite", "version": __version__}
    return _json({"@context": CONTEXT, "@graph": [about, root, organiser, tool, *parts]})


def _file(path: str, size: int, digest: str) -> dict[str, Any]:
    kind = next((kind for ending, kind in TYPES.items() if path.endswith(ending)), "application/octet-stream")
    return {"@id": path, "@type": "File", "contentSize": str(size), "encodingFormat": kind, "sha256": digest}


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
