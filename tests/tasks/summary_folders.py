"""Tiny end-to-end evaluations on disk: rows with their fourth field, metadata, images and judgements."""

import json

import numpy as np
from tests.tasks.folders import documents, key_files, queries, written

from basanite.synthetic.summaries import text_picture

IMAGE = text_picture(["panel", "of", "judges"])
TEAM, LABEL = "FLAIR", "Alpha"


def base(query, document, team=TEAM, label=LABEL):
    return f"{team}.{label}.{query}.{document}"


def metadata(query, document, **changes):
    values = {
        "team_id": TEAM,
        "sys_label": LABEL,
        "uuid": "dc91049e-d934-40d7-a175-5af32cbabbca",
        "query_id": query,
        "document_id": document,
        "run_name": "dummy1",
        "run_date_time": "2018-03-27T13:51:00-05:00",
        "image_filename": f"{base(query, document)}.png",
        "content_list": ["panel of judges"],
    }
    return json.dumps({**values, **changes}).encode()


def summary_files(returned, language="1A"):
    """All files of a submission, for a table of queries x documents."""
    table, files = np.asarray(returned, dtype=bool), {}
    names = documents(table.shape[1], language)
    for query, row in zip(queries(len(table)), table, strict=True):
        lines = []
        for name, flag in zip(names, row, strict=True):
            path = f"{query}/{base(query, name)}"
            lines.append(f"{name}\tY\t0.8\t{base(query, name)}.json\n" if flag else f"{name}\tN\t0.2\n")
            if flag:
                files |= {f"{path}.json": metadata(query, name), f"{path}.png": IMAGE}
        files[f"{query}/{query}.tsv"] = "".join(lines).encode()
    return files


def judgement_table(returned, votes, language="1A"):
    """What judges said: for each returned pair, in the order of queries and documents, a text of verdicts."""
    table = np.asarray(returned, dtype=bool)
    names, numbers = documents(table.shape[1], language), queries(len(table))
    pairs = [(numbers[query], names[document]) for query, document in np.argwhere(table)]
    lines = [
        f"judge{at}\t{query}\t{document}\t{verdict}\n"
        for (query, document), verdicts in zip(pairs, votes, strict=True)
        for at, verdict in enumerate(verdicts)
    ]
    return "judge\tquery\tdocument\tverdict\n" + "".join(lines)


def run(tmp_path, relevant, returned, votes=None, *, language="1A", files=None):
    """Key, submission and judgements, ready to be handed to `basanite.score`."""
    given = {
        "reference": written(tmp_path / "reference", key_files(relevant, language)),
        "submission": nested(tmp_path / "submission", files or summary_files(returned, language)),
    }
    if votes is not None:
        given["judgements"] = tmp_path / "judgements.tsv"
        given["judgements"].write_text(judgement_table(returned, votes, language))
    return given


def nested(folder, files):
    """Files in folders of their own."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder
