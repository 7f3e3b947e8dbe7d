"""Measures of coreference against counts written from their definitions, one mention and one link at a time."""

import random
from itertools import combinations, permutations

import pytest
from tests.metrics.families.structure import grouped

from basanite.metrics.text.coreference import AT, METRICS, Resolved, document_row, statistics


def entity_of(mention, entities):
    return next((one for one in entities if mention in one), [])


def muc(key, response):
    """Links of the key that the response has: an entity needs one less than the parts it falls into."""
    right = 0
    for entity in key:
        parts = {tuple(entity_of(mention, response)) or ("alone", mention) for mention in entity}
        right += len(entity) - len(parts)
    return right, sum(len(entity) - 1 for entity in key)


def b_cubed(key, response):
    total = 0
    for entity in key:
        for mention in entity:
            total += len(set(entity) & set(entity_of(mention, response))) / len(entity)
    return total, sum(map(len, key))


def ceaf(key, response, likeness):
    """The best of all ways to pair entities."""
    few, many = sorted((key, response), key=len)
    ways = permutations(many, len(few))
    return max(sum(likeness(set(a), set(b)) for a, b in zip(few, way, strict=True)) for way in ways)


def links(entities):
    inside = {frozenset(pair) for entity in entities for pair in combinations(entity, 2)}
    everything = {frozenset(pair) for pair in combinations([one for entity in entities for one in entity], 2)}
    return inside, everything - inside


def lea(key, response):
    total = 0
    for entity in key:
        if len(entity) == 1:
            total += entity_of(entity[0], response) == entity
        else:
            pairs = list(combinations(entity, 2))
            shared = [a for a, b in pairs if a in entity_of(b, response)]
            total += len(entity) * len(shared) / len(pairs)
    return total, sum(map(len, key))


def f1(right, of, found, given):
    recall, precision = (right / of if of else 0), (found / given if given else 0)
    return 2 * recall * precision / (recall + precision) if recall + precision else 0


def counted(key, response):
    """Every value of one document, by hand."""
    both = (key, response), (response, key)
    found = {
        name: f1(*(number for one in both for number in measure(*one)))
        for name, measure in (("muc", muc), ("b3", b_cubed), ("lea", lea))
    }
    sizes = [sum(map(len, side)) for side in (key, response)]
    shared = ceaf(key, response, lambda a, b: len(a & b))
    found["ceafm"] = f1(shared, sizes[0], shared, sizes[1])
    alike = ceaf(key, response, lambda a, b: 2 * len(a & b) / (len(a) + len(b)))
    found["ceafe"] = f1(alike, len(key), alike, len(response))
    ours, theirs = links(key), links(response)
    kinds = [f1(len(a & b), len(a), len(a & b), len(b)) for a, b in zip(ours, theirs, strict=True) if a]
    found["blanc"] = sum(kinds) / len(kinds) if kinds else 0
    common = {one for entity in key for one in entity} & {one for entity in response for one in entity}
    found["mentions"] = f1(len(common), sizes[0], len(common), sizes[1])
    found["conll"] = (found["muc"] + found["b3"] + found["ceafe"]) / 3
    return found


@pytest.mark.parametrize("seed", range(80))
def test_every_value_is_that_of_its_definition(seed):
    dice = random.Random(seed)
    key = grouped(dice, range(dice.randint(1, 9)))
    response = grouped(dice, [one for one in range(12) if dice.random() < dice.choice([0.1, 0.7])] or [0])
    rows = statistics(Resolved([key], [response]))
    values = {metric.name: metric.bind(either=False).of(rows) for metric in METRICS}
    shown = {name: 0 if value != value else value for name, value in values.items()}  # nan where all is nothing
    assert shown == pytest.approx(counted(key, response), abs=1e-12)


def test_documents_are_summed_and_not_averaged():
    parts = [([[1, 2, 3]], [[1, 2], [3]]), ([[1, 2]], [[1, 2]])]
    rows = statistics(Resolved(*zip(*parts, strict=True)))
    assert rows.sum(axis=0).tolist() == [sum(one) for one in zip(*(document_row(*part) for part in parts), strict=True)]
    assert rows[:, AT["muc"]].tolist() == [1, 1]


def test_large_documents_are_paired_in_parts():
    """Two thousand entities that share no mention with others: a table of all pairs would be four million cells."""
    entities = [[2 * at, 2 * at + 1] for at in range(2000)]
    assert document_row(entities, entities)[AT["ceafe"]] == 2000
