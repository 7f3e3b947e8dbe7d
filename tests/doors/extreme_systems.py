"""For every task a perfect system, a constant one and one that is noise, as files against its shipped reference."""

from __future__ import annotations

import csv
import json
import re
import tarfile
from collections import defaultdict
from hashlib import sha256

import numpy as np
from tests.doors.examples import BY_TASK

KINDS = ("perfect", "constant", "noise")
SETTINGS = {"classification": {"beta": "2"}, "e2e": BY_TASK["e2e"].settings}
WRITTEN_REFERENCES = {
    "speech": "reference.stm",
    "lm": "sizes.jsonl",
    "questions": "dev.json",
    "judged": "calibration.jsonl",
}
LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")
WORDS = ["a", "young", "driver", "bought", "many", "books", "behind", "the", "church", "before", "rain"]


def given(task, folder):
    """What `basanite.compare` takes: submissions, reference, judgements, metadata and settings."""
    example = BY_TASK[task]
    found = {"reference": example.path(task, example.reference), **SETTINGS.get(task, {})}
    if task in WRITTEN_REFERENCES:
        found["reference"] = folder / WRITTEN_REFERENCES[task]
    if task == "e2e":
        judged = {kind: _judged(folder / f"{kind}.tsv", kind) for kind in KINDS}
        return found | {
            "submissions": dict.fromkeys(KINDS, example.path(task, example.submission)),
            "judgements": judged,
        }
    if task == "reading":
        found["human"] = example.path(task, "answers/human.ndjson")
    return found | {"submissions": {kind: MAKERS[task](folder, kind, np.random.default_rng(3)) for kind in KINDS}}


def _shipped(task, name=""):
    example = BY_TASK[task]
    return example.path(task, name or example.reference)


def _rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _table(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _chosen(kind, rng, *, perfect, constant, noise):
    """One answer of each kind for every item; noise deals these out at random."""
    return {"perfect": perfect, "constant": [constant] * len(perfect), "noise": list(rng.permutation(noise))}[kind]


def _classification(folder, kind, rng):
    key = _rows(_shipped("classification"))
    truth = [row["label"] for row in key]
    answers = _chosen(kind, rng, perfect=truth, constant=truth[0], noise=truth)
    classes, rows = sorted(set(truth)), []
    for row, answer in zip(key, answers, strict=True):
        drawn = rng.dirichlet([1] * len(classes)) if kind == "noise" else [float(name == answer) for name in classes]
        scores = {f"score_{name}": score for name, score in zip(classes, drawn, strict=True)}
        rows.append({"id": row["id"], "label": answer, **scores})
    return _table(folder / f"{kind}.csv", rows)


def _numbers(task, constant, low, high, columns):
    def make(folder, kind, rng):
        rows = []
        for row in _rows(_shipped(task)):
            names = [name for name in row if name in columns]
            drawn = rng.uniform(low, high, len(names))
            answers = {
                "perfect": [row[name] or constant for name in names],
                "constant": [constant] * len(names),
                "noise": drawn,
            }
            rows.append({"id": row["id"], **dict(zip(names, answers[kind], strict=True))})
        return _table(folder / f"{kind}.csv", rows)

    return make


def _readability(folder, kind, rng):
    experts = defaultdict(list)
    for row in _rows(_shipped("readability")):
        if row["panel"] == "expert":
            experts[row["passage"]].append(float(row["rating"]))
    means = [float(np.mean(ratings)) for ratings in experts.values()]
    answers = _chosen(kind, rng, perfect=means, constant=1.0, noise=rng.uniform(1, 5, len(means)))
    rows = [{"passage": name, "rating": answer} for name, answer in zip(experts, answers, strict=True)]
    return _table(folder / f"{kind}.csv", rows)


def _relevance(folder, kind, rng):
    asked = {row["item"]: row["question"] for row in _rows(_shipped("relevance")) if row["question"]}
    texts = [row["text"] for row in _rows(_shipped("relevance", "alpha.csv"))]
    answers = _chosen(kind, rng, perfect=list(asked.values()), constant="A boat.", noise=texts)
    return _table(folder / f"{kind}.csv", [{"item": n, "text": t} for n, t in zip(asked, answers, strict=True)])


def _judged_answers(folder, kind, rng):
    """Systems whose answers the judge and people all called right, or did so at random; half of them were drawn."""
    names, known = [f"q{n:03d}" for n in range(120)], []
    noise = rng.integers(0, 2, 120).astype(float).tolist()
    for each, said in (("perfect", [1.0] * 120), ("constant", [0.0] * 120), ("noise", noise)):
        for at, (name, one) in enumerate(zip(names, said, strict=True)):
            people = {"people": one} if at % 2 == 0 else {}
            digest = sha256(f"{each} {name}".encode()).hexdigest()
            known.append({"id": name, "text_sha256": digest, "judge": one, "drawn": at % 2 == 0, **people})
    _lines(folder / "calibration.jsonl", [{"format": "basanite-calibration/1", "license": {"model": "m"}}, *known])
    return _lines(folder / f"{kind}.jsonl", [{"id": name, "text": f"{kind} {name}"} for name in names])


def _lm(folder, kind, rng):
    rows = _read_lines(_shipped("lm"))
    _lines(folder / "sizes.jsonl", [row | {"words": row["tokens"] - 1, "characters": 90, "bytes": 95} for row in rows])
    certain = {"perfect": lambda size: [0.0] * size, "constant": lambda size: [-1.0] * size}
    drawn = certain.get(kind, lambda size: (-rng.exponential(9, size)).tolist())
    made = [{"id": row["id"], "logprobs": drawn(row["tokens"]), "oov": [1]} for row in rows]
    return _lines(folder / f"{kind}.jsonl", made)


def _translation(folder, kind, rng):
    rows = _read_lines(_shipped("translation"))
    texts = [row["references"][0] for row in rows]
    answers = _chosen(kind, rng, perfect=texts, constant="the the the", noise=texts)
    made = [{"id": row["id"], "text": str(answer)} for row, answer in zip(rows, answers, strict=True)]
    return _lines(folder / f"{kind}.jsonl", made)


def _summaries(folder, kind, rng):
    rows = _read_lines(_shipped("summaries"))
    texts = [row["references"][0] for row in rows]
    answers = _chosen(kind, rng, perfect=texts, constant="the the\nthe", noise=texts)
    made = [{"id": row["id"], "text": str(answer)} for row, answer in zip(rows, answers, strict=True)]
    return _lines(folder / f"{kind}.jsonl", made)


def _captions(folder, kind, rng):
    first = {}
    for row in json.loads(_shipped("captions").read_text(encoding="utf-8"))["annotations"]:
        first.setdefault(row["image_id"], row["caption"])
    answers = _chosen(kind, rng, perfect=list(first.values()), constant="a a a", noise=list(first.values()))
    made = [{"image_id": name, "caption": str(answer)} for name, answer in zip(first, answers, strict=True)]
    path = folder / f"{kind}.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


def _questions(folder, kind, rng):
    """Questions about texts, whose rule has every metric."""
    shipped = _shipped("questions", "dev.json").read_text(encoding="utf-8")
    (folder / "dev.json").write_text(shipped, encoding="utf-8")
    paragraphs = [one for article in json.loads(shipped)["data"] for one in article["paragraphs"]]
    right = {
        one["id"]: [*(gold["text"] for gold in one["answers"]), ""][0] for each in paragraphs for one in each["qas"]
    }
    answers = _chosen(kind, rng, perfect=list(right.values()), constant="by the sea", noise=list(right.values()))
    path = folder / f"{kind}.json"
    path.write_text(json.dumps(dict(zip(right, map(str, answers), strict=True))), encoding="utf-8")
    return path


def _speech(folder, kind, rng):
    said = [list(np.random.default_rng(at).permutation(WORDS)[:6]) for at in range(24)]
    stm = [f"c{at:02} A s{at:02} 0.00 6.00 <o> {' '.join(words)}" for at, words in enumerate(said)]
    (folder / "reference.stm").write_text("\n".join(stm) + "\n", encoding="utf-8")
    heard = _chosen(kind, rng, perfect=said, constant=["rain"] * 6, noise=said)
    ctm = [f"c{at:02} A {n}.00 0.90 {w} 0.5" for at, words in enumerate(heard) for n, w in enumerate(words)]
    path = folder / f"{kind}.ctm"
    path.write_text("\n".join(ctm) + "\n", encoding="utf-8")
    return path


def _parsing(folder, kind, rng):
    trees = _shipped("parsing").read_text(encoding="utf-8").splitlines()
    shapes = {"perfect": lambda tree: tree, "constant": _flat, "noise": _branching}
    path = folder / f"{kind}.trees"
    path.write_text("\n".join(map(shapes[kind], trees)) + "\n", encoding="utf-8")
    return path


def _dependencies(folder, kind, rng):
    """The treebank itself; all words on the first one with one tag; or each word on the one before or on the root."""
    path = folder / f"{kind}.conllu"
    lines = _shipped("dependencies").read_text(encoding="utf-8").splitlines()
    path.write_text("".join(f"{_word(line, kind, rng)}\n" for line in lines), encoding="utf-8")
    return path


def _word(line, kind, rng):
    cells = line.split("\t")
    if kind == "perfect" or not cells[0].isdecimal():
        return line
    at = int(cells[0])
    head = rng.integers(1, at) if at > 1 and kind == "noise" else int(at > 1)
    relation = "root" if at == 1 else rng.choice(["nsubj", "obj", "det", "punct"]) if kind == "noise" else "dep"
    return "\t".join([cells[0], cells[1], "x", "X", "X", "_", str(head), relation, "_", "_"])


def _tagging(folder, kind, rng):
    """The tags themselves; the same one for every word; or any."""
    path = folder / f"{kind}.iob"
    lines = []
    for line in _shipped("tagging").read_text(encoding="utf-8").splitlines():
        word, _, tag = line.rpartition(" ")
        tag = {"perfect": tag, "constant": "B-PER"}.get(kind) or rng.choice(["O", "B-PER", "I-LOC", "B-X"])
        lines.append(f"{word} {tag}" if word and not word.startswith("-DOC") else line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _coreference(folder, kind, rng):
    """The entities themselves; every word one entity; or each word any of five."""
    path = folder / f"{kind}.conll"
    lines = []
    for line in _shipped("coreference").read_text(encoding="utf-8").splitlines():
        word, tab, mark = line.rpartition("\t")
        mark = {"perfect": mark, "constant": "(1)"}.get(kind) or f"({rng.integers(5)})"
        lines.append(f"{word}{tab}{mark}" if tab else line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _flat(tree):
    return "(TOP (X " + " ".join(f"({tag} {word})" for tag, word in LEAF.findall(tree)) + "))"


def _branching(tree):
    leaves = [f"(X {word})" for _, word in LEAF.findall(tree)]
    return "(TOP " + "".join(f"(VP {leaf} " for leaf in leaves[:-1]) + leaves[-1] + ")" * len(leaves)


def _ranking(folder, kind, rng):
    rows = [line.split() for line in _shipped("ranking").read_text(encoding="utf-8").splitlines()]
    scores = {"perfect": lambda grade: float(grade), "constant": lambda _: 1.0, "noise": lambda _: float(rng.random())}
    made = [(query, document, scores[kind](grade)) for query, _, document, grade in rows]
    made.sort(key=lambda row: (row[0], -row[2]))
    path = folder / f"{kind}.run"
    path.write_text("".join(f"{q} Q0 {d} {at} {s} {kind}\n" for at, (q, d, s) in enumerate(made)), encoding="utf-8")
    return path


def _detections(task):
    def make(folder, kind, rng):
        (folder / kind).mkdir()
        for key in sorted(_shipped(task).glob("*.tsv")):
            lines = [line.split("\t") for line in key.read_text(encoding="utf-8").splitlines()]
            found = [f"{name}\t{_decided(kind, truth, rng)}\n" for name, truth in lines]
            (folder / kind / key.name).write_text("".join(found), encoding="utf-8")
        path = folder / f"{kind}.tgz"
        with tarfile.open(path, "w:gz") as archive:
            for each in sorted((folder / kind).iterdir()):
                archive.add(each, each.name)
        return path

    return make


def _decided(kind, truth, rng):
    """A decision and its confidence; the constant system returns everything, which is the worst there is."""
    if kind == "noise":
        score = round(float(rng.random()), 5)
        return f"{'Y' if score >= 0.5 else 'N'}\t{score}"
    return "Y\t0.9" if kind == "constant" or truth == "Y" else "N\t0.1"


def _judged(path, kind):
    """What judges said of the shipped summaries: what the key says, always yes, or anything."""
    rng = np.random.default_rng(5)
    relevant = {
        (key.stem, line.split("\t")[0])
        for key in _shipped("e2e").glob("*.tsv")
        for line in key.read_text(encoding="utf-8").splitlines()
        if line.endswith("\tY")
    }
    head, *rows = _shipped("e2e", BY_TASK["e2e"].judgements).read_text(encoding="utf-8").splitlines()
    made = [head]
    for judge, query, document, *_ in (row.split("\t") for row in rows):
        yes = {"perfect": (query, document) in relevant, "constant": True, "noise": rng.random() < 0.5}[kind]
        made.append(f"{judge}\t{query}\t{document}\t{'R' if yes else 'N'}")
    path.write_text("\n".join(made) + "\n", encoding="utf-8")
    return path


def _reading(folder, kind, rng):
    rows = _read_lines(_shipped("reading", "gold/v2.ndjson"))
    dealt = rng.permutation(len(rows)) if kind == "noise" else np.zeros(len(rows), np.int64)
    answers = [row["answer"] if kind == "perfect" else rows[at]["answer"] for row, at in zip(rows, dealt, strict=True)]
    made = [
        {"query": row["query"] if kind == "perfect" else rows[at]["query"], "document": row["document"]}
        | {"answer": answer, "kind": row["kind"], "provenance": []}
        for row, at, answer in zip(rows, dealt, answers, strict=True)
    ]
    return _lines(folder / f"{kind}.ndjson", list({json.dumps(row): row for row in made}.values()))


def _representation(folder, kind, rng):
    """Features with every part that a measure may need: classes apart, all rows alike, or anything."""
    digits = np.array([int(row["label"]) for row in _rows(_shipped("representation"))])
    features = {"perfect": np.eye(6, 8)[digits] + 0.1, "constant": np.ones((len(digits), 8))}
    found = features.get(kind, rng.random((len(digits), 8)))
    predictions = {"perfect": digits, "constant": np.zeros_like(digits)}.get(kind, rng.permutation(digits))
    theta = np.eye(6)[digits] if kind == "perfect" else rng.dirichlet(np.ones(3), len(digits))
    source = {"source_probabilities": theta, "source_features": found[::2], "source_labels": digits[::2]}
    np.savez(folder / f"{kind}.npz", features=found, predictions=predictions, **source)
    return folder / f"{kind}.npz"


def _scores(folder, kind, rng):
    items = [row["item"] for row in _rows(_shipped("scores"))]
    used = {"perfect": (0, 0, 0), "constant": (1, 1, 1)}
    rows = [
        {"item": item, "repeat": repeat, "score": {"perfect": 1, "constant": 0.5}.get(kind, int(rng.integers(2)))}
        | dict(zip(("cost", "latency", "tokens"), used.get(kind, rng.exponential(size=3).tolist()), strict=True))
        | dict.fromkeys(("refusal", "error"), {"perfect": 0, "constant": 1}.get(kind, int(rng.integers(2))))
        for item in items
        for repeat in range(3)
    ]
    return _table(folder / f"{kind}.csv", rows)


MAKERS = {
    "captions": _captions,
    "classification": _classification,
    "clir": _detections("clir"),
    "coreference": _coreference,
    "dependencies": _dependencies,
    "domainid": _detections("domainid"),
    "judged": _judged_answers,
    "labels": _numbers("labels", 0.5, 0, 1, {"AnswerPhone", "DriveCar", "Eat", "Kiss", "Run", "SitDown"}),
    "langid": _detections("langid"),
    "lm": _lm,
    "parsing": _parsing,
    "questions": _questions,
    "ranking": _ranking,
    "ratings": _numbers("ratings", 1, 1, 5, {"overall", "food", "ambiance", "service", "noise"}),
    "readability": _readability,
    "reading": _reading,
    "relevance": _relevance,
    "representation": _representation,
    "scores": _scores,
    "speech": _speech,
    "summaries": _summaries,
    "tagging": _tagging,
    "translation": _translation,
}
