"""Items of a table: classes, labels with confidences, ratings, judged texts, and ratings of passages by panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from basanite.metrics.class_scores import METRICS
from basanite.metrics.classification import OVERALL, WITH_BETA
from campaigns.world import POPULATION, Generator, Pick, World, chance, shared, write_lines

CLASSES = "abcde"
FREQUENT = [0.35, 0.3, 0.15, 0.1, 0.1]
AGREEMENT = ("balanced_accuracy", "mcc", "cohen_kappa")
LABELS = np.array([0.2, 0.25, 0.3, 0.35, 0.4])
TRIALS = 4
EXPERTS, NOVICES, PANEL = 6, 60, 10
WORDS = [f"w{at}" for at in range(300)]


def _written(folder: Path, heads: tuple[str, str], lines: tuple[list[str], list[str]]) -> Mapping[str, Any]:
    """Reference and submission as tables with commas."""
    reference, submission = (
        write_lines(folder / name, [head, *rows])
        for name, head, rows in zip(("reference.csv", "answers.csv"), heads, lines, strict=True)
    )
    return {"reference": reference, "submission": submission}


def classification(rng: Generator) -> World:
    """Items of frequent classes and rarer ones, hard and easy; F with beta 2 is asked for as well."""
    truth = rng.choice(len(CLASSES), POPULATION, p=FREQUENT)
    wrong = rng.random(POPULATION) < chance(shared(rng), -0.8, 1.0)
    answers = np.where(wrong, (truth + rng.integers(1, len(CLASSES), POPULATION)) % len(CLASSES), truth)
    write = partial(_write_classes, truth, answers)
    measured = tuple(metric.name for metric in (*OVERALL, *WITH_BETA) if metric.name not in AGREEMENT)
    return World("classification", write, {"classification": measured, "classes": ()}, ("class", "b"))


def class_agreement(rng: Generator) -> World:
    """The same items, for values that take both frequencies of a class into account."""
    world = classification(rng)
    write = partial(_write_asked, world.write, AGREEMENT)
    return World("classification", write, {"classification": AGREEMENT})


def class_scores(rng: Generator) -> World:
    """Items of three classes with a probability for each, too sure of itself; hard and easy."""
    truth = rng.choice(3, POPULATION, p=[0.5, 0.3, 0.2])
    margin = rng.normal(0, 1, (POPULATION, 3))
    margin[np.arange(POPULATION), truth] += 1 + 0.7 * shared(rng)
    given = np.exp(1.5 * margin)
    write = partial(_write_class_scores, truth, given / given.sum(axis=1, keepdims=True))
    return World("classification", write, {"class_probabilities": (), "class_rankings": ()}, ("class", "b"))


def _write_asked(write: Any, metrics: Sequence[str], folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    files = {name: given for name, given in write(folder, picks).items() if name != "beta"}
    return {**files, "metrics": metrics, "primary": metrics[0]}


def _write_class_scores(truth: Any, given: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    source = ",source" if picks[0].cluster else ""
    key = [f"{p.name},{CLASSES[truth[p.unit]]}{source and ',' + p.cluster}" for p in picks]
    scores = [",".join(f"{one:.9f}" for one in given[p.unit]) for p in picks]
    rows = [f"{p.name},{CLASSES[given[p.unit].argmax()]},{one}" for p, one in zip(picks, scores, strict=True)]
    metrics = [metric.name for metric in METRICS]
    heads = f"id,label{source}", "id,label,score_a,score_b,score_c"
    return {**_written(folder, heads, (key, rows)), "metrics": metrics, "primary": "log_loss"}


def _write_classes(truth: Any, answers: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    source = ",source" if picks[0].cluster else ""
    key = [f"{p.name},{CLASSES[truth[p.unit]]}{source and ',' + p.cluster}" for p in picks]
    given = [f"{p.name},{CLASSES[answers[p.unit]]}" for p in picks]
    return {**_written(folder, (f"id,label{source}", "id,label"), (key, given)), "beta": "2"}


def labels(rng: Generator) -> World:
    """Instances with five classes of different frequency."""
    positive = rng.random((POPULATION, len(LABELS))) < LABELS
    confidence = (1.2 + 0.5 * shared(rng))[:, None] * positive + rng.normal(0, 1, positive.shape)
    return World("labels", partial(_write_labels, positive, confidence), {"labels": ()}, ("class", "C4"))


def _write_labels(positive: Any, confidence: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    film, heads = (",film" if picks[0].cluster else ""), ",".join(f"C{at}" for at in range(len(LABELS)))
    key = [
        f"{p.name}{film and ',' + p.cluster}," + ",".join("1" if one else "0" for one in positive[p.unit])
        for p in picks
    ]
    given = [f"{p.name}," + ",".join(f"{one:.6f}" for one in confidence[p.unit]) for p in picks]
    return _written(folder, (f"id{film},{heads}", f"id,{heads}"), (key, given))


def ratings(rng: Generator) -> World:
    """Items with three ratings of 1 to 5; errors are larger for some items."""
    truth = np.clip(np.round(rng.normal(3.6, 1.1, (POPULATION, 3))), 1, 5)
    error = 0.8 * np.exp(0.4 * shared(rng))[:, None] * rng.normal(0, 1, truth.shape)
    predicted = np.clip(truth + error, 1, 5)
    return World("ratings", partial(_write_ratings, truth, predicted), {"ratings": ()}, ("target", "food"))


def _write_ratings(truth: Any, predicted: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    source, heads = (",source" if picks[0].cluster else ""), "food,noise,service"
    key = [f"{p.name}{source and ',' + p.cluster}," + ",".join(f"{one:g}" for one in truth[p.unit]) for p in picks]
    given = [f"{p.name}," + ",".join(f"{one:.4f}" for one in predicted[p.unit]) for p in picks]
    return _written(folder, (f"id{source},{heads}", f"id,{heads}"), (key, given))


def relevance(rng: Generator) -> World:
    """Items judged by three people, and answers that share some words with their questions."""
    quality = chance(shared(rng), 0.4, 1.0)
    judged = rng.random((POPULATION, 3)) < quality[:, None]
    questions = [[WORDS[at] for at in rng.integers(0, len(WORDS), 6)] for _ in range(POPULATION)]
    texts = [
        " ".join(word if rng.random() < share else WORDS[rng.integers(0, len(WORDS))] for word in words)
        for words, share in zip(questions, quality, strict=True)
    ]
    write = partial(_write_relevance, judged, questions, texts)
    return World("relevance", write, {"relevance": ()})


def _write_relevance(
    judged: Any, questions: Sequence[Sequence[str]], texts: Sequence[str], folder: Path, picks: Sequence[Pick]
) -> Mapping[str, Any]:
    source = ",source" if picks[0].cluster else ""
    key = [
        f"{p.name},j{who},{int(judged[p.unit, who])},{' '.join(questions[p.unit])}{source and ',' + p.cluster}"
        for p in picks
        for who in range(3)
    ]
    given = [f"{p.name},{texts[p.unit]}" for p in picks]
    return _written(folder, (f"item,judge,relevance,question{source}", "item,text"), (key, given))


def readability(rng: Generator) -> World:
    """Passages rated by six experts, ten novices who each have a bias, and a machine; novices are drawn as well."""
    true = 3.1 + shared(rng)[:, None]
    experts = _stars(true + rng.normal(0, 0.6, (POPULATION, EXPERTS)))
    novices = _stars(true + rng.normal(0, 0.3, NOVICES) + rng.normal(0, 0.9, (POPULATION, NOVICES)))
    machine = np.clip(true[:, 0] + rng.normal(0, 0.8, POPULATION), 1, 5)
    write = partial(_write_panels, experts, novices, machine)
    return World("readability", write, {"readability": ()}, clusters=False)


def _stars(feelings: Any) -> Any:
    return np.clip(np.rint(feelings), 1, 5).astype(int)


def _write_panels(experts: Any, novices: Any, machine: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    if len(picks) < POPULATION:  # a campaign has ten of the novices, the population all of them
        novices = novices[:, np.random.default_rng([pick.unit for pick in picks]).permutation(NOVICES)[:PANEL]]
    key = [
        f"{p.name},{panel}{who},{panel},{stars}"
        for p in picks
        for panel, rated in (("expert", experts), ("novice", novices))
        for who, stars in enumerate(rated[p.unit])
    ]
    given = [f"{p.name},{machine[p.unit]:.3f}" for p in picks]
    return _written(folder, ("passage,judge,panel,rating", "passage,rating"), (key, given))


def scores(rng: Generator) -> World:
    """Items with four trials each, of which some always pass and some never; dear items take longer and fail more."""
    latent = shared(rng)
    passed = rng.random((POPULATION, TRIALS)) < chance(latent, 0.3, 1.5)[:, None]
    failed = np.stack([rng.random(passed.shape) < chance(latent, mean, 1.0)[:, None] for mean in (-1.2, -1.6)], axis=-1)
    cost = np.exp(0.5 * latent[:, None] + rng.normal(0, 0.5, passed.shape))
    return World("scores", partial(_write_scores, passed, cost, failed), {"trials": ()})


def _write_scores(passed: Any, cost: Any, failed: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    cluster = ",cluster" if picks[0].cluster else ""
    rows = [
        f"{p.name},{at},{int(passed[p.unit, at])},{one:.4f},{10 * one:.3f},{int(1000 * one) + 1}"
        f",{','.join(map(str, failed[p.unit, at].astype(int)))}"
        f"{cluster and ',' + p.cluster}"
        for p in picks
        for at, one in enumerate(cost[p.unit])
    ]
    head = f"item,repeat,score,cost,latency,tokens,refusal,error{cluster}"
    return {"submission": write_lines(folder / "answers.csv", [head, *rows])}


WORLDS = {
    "classification": classification,
    "class_agreement": class_agreement,
    "class_scores": class_scores,
    "labels": labels,
    "ratings": ratings,
    "relevance": relevance,
    "readability": readability,
    "scores": scores,
}
