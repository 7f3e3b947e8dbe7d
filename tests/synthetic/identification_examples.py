"""The small examples of DomainID and LangID, in one folder each.

`python -m tests.synthetic.identification_examples FOLDER` makes both again, byte for byte.
"""

from __future__ import annotations

import sys
from pathlib import Path

from basanite.synthetic.clir import Quality, Spec, catalogue, write_members, write_metadata
from basanite.synthetic.identification import Labelled, domains, languages, system_members, write_answers, write_truth

SPEC = Spec(queries=0, documents=80, seed=6)
SYSTEMS = (Quality("Alpha", 7.0), Quality("Beta", 3.5))
NAMED = "Government-And-Politics.tsv"


def write_broken(truth: Labelled, folder: Path) -> None:
    """Write Alpha's answers with a domain's name for its code, and a line for a document of genre CS (M34)."""
    members = dict(system_members(truth, SYSTEMS[0]))
    names = catalogue(SPEC)
    speech = next(name for name, genre in zip(names.documents, names.genres, strict=True) if genre == "CS")
    members[NAMED] = members.pop("GOV.tsv")
    members["LAW.tsv"] += f"{speech}\tN\t0.1\n".encode()
    write_members(members.items(), folder)


def write_example(truth: Labelled, folder: Path) -> None:
    """Write key, factors of documents and two systems."""
    write_truth(truth, folder / "key")
    write_metadata(SPEC, folder / "metadata")[1].unlink()  # there are no queries
    for quality in SYSTEMS:
        archive = folder / f"{quality.label}.tgz"
        archive.unlink(missing_ok=True)
        write_answers(truth, quality, archive)


def write_examples(folder: Path) -> None:
    """Write both examples into folders of their own."""
    write_example(domains(SPEC), folder / "domainid")
    write_broken(domains(SPEC), folder / "domainid" / "broken")
    write_example(languages(SPEC), folder / "langid")


if __name__ == "__main__":
    write_examples(Path(sys.argv[1]))
