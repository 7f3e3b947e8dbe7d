"""PARSEVAL by brute force: trees as nested lists, deleted node by node, brackets compared one by one."""

import re
from collections import Counter

DELETED = {"TOP", "ROOT", "S1", "-NONE-", ",", ":", "``", "''", ".", "?", "!"}
EQUAL = {"PRT": "ADVP"}


def nested(text):
    """A tree as lists [label, child, …] and words."""
    tokens = re.findall(r"[()]|[^\s()]+", text)
    stack = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0] if stack[0] else None


def leaves(node):
    """Pairs of tag and word that stay."""
    if node is None:
        return []
    if len(node) == 2 and isinstance(node[1], str):
        return [] if node[0] in DELETED else [tuple(node)]
    return [leaf for child in node[1:] for leaf in leaves(child)]


def brackets(node, start=0):
    """All brackets that stay, from first to last word, with their labels."""
    if node is None or (len(node) == 2 and isinstance(node[1], str)):
        return []
    size = len(leaves(node))
    label = re.split("[-=]", node[0])[0]
    found = [] if label in DELETED or not size else [(start, start + size, EQUAL.get(label, label))]
    for child in node[1:]:
        found += brackets(child, start)
        start += len(leaves(child))
    return found


def crosses(one, other):
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def counted(gold_text, answer_text):
    """What one sentence contributes, None if the answer does not fit."""
    gold, answer = nested(gold_text), nested(answer_text)
    words, others = leaves(gold), leaves(answer)
    if [word for _, word in words] != [word for _, word in others]:
        return None
    ours, theirs = brackets(gold), brackets(answer)
    tags = sum(EQUAL.get(a, a) == EQUAL.get(b, b) for (a, _), (b, _) in zip(words, others, strict=True))
    spans = Counter(b[:2] for b in ours) & Counter(b[:2] for b in theirs)
    matched = (Counter(ours) & Counter(theirs)).total()
    return {
        "matched": matched,
        "gold": len(ours),
        "answered": len(theirs),
        "matched_spans": spans.total(),
        "exact": sorted(ours) == sorted(theirs),
        "sentences": 1,
        "crossing": sum(any(crosses(a, b) for b in ours) for a in theirs),
        "fitting": 1,
        "right_tags": tags,
        "words": len(words),
    }
