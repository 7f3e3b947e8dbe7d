"""Queries over a fixed collection, documents under fixed queries, judged summaries, one domain, and ranked lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from basanite.synthetic.summaries import text_picture
from campaigns.world import POPULATION, Generator, Pick, World, chance, shared, write_lines

DOCUMENTS, FIXED_QUERIES, RANKED = 50, 40, 40
JUDGES, RIGHT = 3, 0.85
TEAM = "FLAIR.Simulated"


def document_name(at: int | str) -> str:
    """A name as the plan has it."""
    return f"MATERIAL_BASE-1A_{10_000_000 + int(at)}"


QUERY = ("query", lambda _, pick: f"query{pick.name.replace('-', '')}")
DOCUMENT = ("document", lambda at, _: document_name(at))


def _retrieval(rng: Generator, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Which documents are relevant to which queries, and the scores of a system that finds some queries hard."""
    rare = rng.choice([0.0, 0.02, 0.06, 0.15], shape[0])[:, None]
    relevant = rng.random(shape) < rare
    quality = 3.4 + shared(rng, shape[0])[:, None]
    logits = quality * relevant - 2.5 + rng.normal(0, 1, shape) + rng.normal(0, 0.4, (shape[0], 1))
    return relevant, np.round(1 / (1 + np.exp(-logits)), 4)


def _letters(flags: Any) -> Any:
    return np.where(flags, "Y", "N")


def _query_files(relevant: Any, scores: Any, names: Sequence[str]) -> tuple[str, str]:
    """The lines of key and submission for one query."""
    key = [f"{name}\t{letter}" for name, letter in zip(names, _letters(relevant), strict=True)]
    rows = [f"{line}\t{score:.4f}" for line, score in zip(_decided(scores, names), scores, strict=True)]
    return "\n".join(key) + "\n", "\n".join(rows) + "\n"


def _decided(scores: Any, names: Sequence[str]) -> list[str]:
    return [f"{name}\t{letter}" for name, letter in zip(names, _letters(scores >= 0.6), strict=True)]


def clir(rng: Generator) -> World:
    """Queries are drawn; the documents are the same in every campaign."""
    relevant, scores = _retrieval(rng, (POPULATION, DOCUMENTS))
    names = [document_name(at) for at in range(DOCUMENTS)]
    files = [_query_files(*pair, names) for pair in zip(relevant, scores, strict=True)]
    every = (
        "aqwv",
        "aqwv_all",
        "aqwv_relevant",
        "auc",
        "auc_pooled",
        "mqwv",
        "mqwv_crossfit",
        "oracle",
        "pfa",
        "pmiss",
    )
    return World("clir", partial(_write_queries, files), {"detection": (*every, "theta_best")}, names=QUERY)


def _write_queries(files: Sequence[tuple[str, str]], folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    for place in ("key", "answers"):
        (folder / place).mkdir()
    for pick in picks:
        key, rows = files[pick.unit]
        (folder / "key" / f"{QUERY[1](0, pick)}.tsv").write_text(key)
        (folder / "answers" / f"{QUERY[1](0, pick)}.tsv").write_text(rows)
    return {"reference": folder / "key", "submission": folder / "answers"}


def documents(rng: Generator) -> World:
    """Documents are drawn, which is what `adwv` averages over; the queries are the same in every campaign."""
    relevant, scores = (table.T for table in _retrieval(rng, (POPULATION, FIXED_QUERIES)))
    return World("clir", partial(_write_documents, relevant, scores), {"detection": ("adwv",)}, clusters=False)


def _write_documents(relevant: Any, scores: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    units = [pick.unit for pick in picks]
    names = [document_name(at) for at in range(len(picks))]
    files = [_query_files(one[units], given[units], names) for one, given in zip(relevant, scores, strict=True)]
    return _write_queries(files, folder, [Pick(at, f"{at:05}") for at in range(len(files))])


def e2e(rng: Generator) -> World:
    """Queries are drawn with all that was judged of them: three votes on each returned pair, right in 85 %."""
    relevant, scores = _retrieval(rng, (POPULATION, DOCUMENTS))
    right = rng.random((POPULATION, DOCUMENTS, JUDGES)) < RIGHT
    votes = np.where(right == relevant[:, :, None], "R", "N")
    return World("e2e", partial(_write_judged, relevant, scores, votes), {"end_to_end": ()}, names=QUERY)


def _write_judged(relevant: Any, scores: Any, votes: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    names = [document_name(at) for at in range(DOCUMENTS)]
    picture, lines = text_picture(["report"]), ["judge\tquery\tdocument\tverdict"]
    (folder / "key").mkdir()
    for pick in picks:
        query, unit = QUERY[1](0, pick), pick.unit
        place = folder / "answers" / query
        place.mkdir(parents=True)
        key, rows = _query_files(relevant[unit], scores[unit], names)
        (folder / "key" / f"{query}.tsv").write_text(key)
        made = rows.splitlines()
        for at in np.flatnonzero(scores[unit] >= 0.6):
            base = f"{TEAM}.{query}.{names[at]}"
            made[at] += f"\t{base}.json"
            (place / f"{base}.json").write_text(_summary(query, names[at], base))
            (place / f"{base}.png").write_bytes(picture)
            lines += [f"judge{who}\t{query}\t{names[at]}\t{votes[unit, at, who]}" for who in range(JUDGES)]
        write_lines(place / f"{query}.tsv", made)
    judged = write_lines(folder / "judgements.tsv", lines)
    return {"reference": folder / "key", "submission": folder / "answers", "judgements": judged}


def _summary(query: str, document: str, base: str) -> str:
    """The metadata of a summary, as the plan asks for."""
    team, label = TEAM.split(".")
    values = {
        "team_id": team,
        "sys_label": label,
        "uuid": "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
        "query_id": query,
        "document_id": document,
        "run_name": "simulated",
        "run_date_time": "2018-11-26T09:00:00-05:00",
        "image_filename": f"{base}.png",
        "content_list": ["report"],
    }
    return json.dumps(values)


def domainid(rng: Generator) -> World:
    """Documents are drawn, of which three in ten belong to the domain."""
    relevant = rng.random(POPULATION) < 0.3
    sure = chance(shared(rng), 1.0, 1.0)
    returned = rng.random(POPULATION) < np.where(relevant, sure, (1 - sure) / 2)
    counts = ("x1", "x2", "x3", "x4")
    write = partial(_write_domain, relevant, returned)
    return World("domainid", write, {"identification": ()}, ("target", "GOV"), names=DOCUMENT, scales=counts)


def _write_domain(relevant: Any, returned: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    for place, letters, more in (("key", _letters(relevant), ""), ("answers", _letters(returned), "\t0.5")):
        (folder / place).mkdir()
        lines = [f"{document_name(at)}\t{letters[pick.unit]}{more}" for at, pick in enumerate(picks)]
        write_lines(folder / place / "GOV.tsv", lines)
    return {"reference": folder / "key", "submission": folder / "answers"}


def ranking(rng: Generator) -> World:
    """Queries over forty documents of grades 0 to 3; some have no relevant one, a fifth of all pairs is not judged."""
    shape = (POPULATION, RANKED)
    relevant = rng.random(shape) < rng.choice([0.0, 0.05, 0.15, 0.3], POPULATION)[:, None]
    grades = relevant * rng.integers(1, 4, shape)
    known = rng.random(shape) >= 0.2
    scores = (1 + 0.4 * shared(rng))[:, None] * grades + rng.normal(0, 1, shape)
    return World(
        "ranking",
        partial(_write_ranking, grades, known, scores),
        {"ranking": ()},
        names=("query", lambda _, pick: f"q{pick.name}"),
    )


def _write_ranking(grades: Any, known: Any, scores: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    judged, ranked = [], []
    for pick in picks:
        order = np.argsort(-scores[pick.unit])
        judged += [f"q{pick.name} 0 d{at} {grades[pick.unit, at]}" for at in np.flatnonzero(known[pick.unit])]
        ranked += [
            f"q{pick.name} Q0 d{at} {rank} {scores[pick.unit, at]:.6f} a" for rank, at in enumerate(order[:20], 1)
        ]
    return {
        "reference": write_lines(folder / "qrels.txt", judged),
        "submission": write_lines(folder / "a.run", ranked),
    }


WORLDS = {
    "clir": clir,
    "clir, documents drawn": documents,
    "e2e": e2e,
    "domainid": domainid,
    "ranking": ranking,
}
