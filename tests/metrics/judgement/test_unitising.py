"""Unitising alpha against the worked example of its author and against loops over all sections."""

import numpy as np
import pytest

from basanite.errors import SettingError
from basanite.metrics.judgement.span_agreement import Document, Span, unitising_alpha, unitising_alpha_with_interval


def spans(*units):
    return [Span(begin, begin + length, label) for begin, length, label in units]


# Krippendorff (2004), page 254: a continuum from 150 to 450, here from 0.
FIRST = spans((75, 70, "c"), (220, 30, "c"), (30, 60, "k"), (150, 50, "k"))
SECOND = spans((70, 80, "c"), (205, 20, "c"), (250, 20, "c"), (30, 60, "k"), (150, 50, "k"))
PUBLISHED = Document(300, [FIRST, SECOND])


def test_the_worked_example_of_its_author_comes_out():
    assert unitising_alpha([PUBLISHED], "c").value == pytest.approx(0.7286, abs=1e-4)
    assert unitising_alpha([PUBLISHED], "k").value == 1
    assert unitising_alpha([PUBLISHED]).value == pytest.approx(0.8591, abs=5e-4)


def sections(document, units):
    """Units and gaps of one judge: begin, length, whether it is a unit."""
    edges, made = 0, []
    for span in sorted(units, key=lambda one: one.begin):
        if span.begin > edges:
            made.append((edges, span.begin - edges, False))
        made.append((span.begin, span.end - span.begin, True))
        edges = span.end
    return [*made, (edges, document.length - edges, False)] if edges < document.length else made


def by_loops(documents):
    """The formulas of the paper, section by section, for documents that share one label."""
    cut = [[sections(document, judge) for judge in document.spans] for document in documents]
    judges, total = len(cut[0]), sum(document.length for document in documents)
    observed = 0.0
    for document in cut:
        for i, one in enumerate(document):
            for j, other in enumerate(document):
                for b, l, v in one if i != j else ():
                    for c, k, w in other:
                        if v and w and -l < b - c < k:
                            observed += (b - c) ** 2 + (b + l - c - k) ** 2
                        elif v and not w and k - l >= b - c >= 0:
                            observed += l**2
                        elif w and not v and l - k >= c - b >= 0:
                            observed += k**2
    everything = [section for document in cut for judge in document for section in judge]
    units, gaps = ([length for _, length, unit in everything if unit == kind] for kind in (True, False))
    top = sum(
        (len(units) - 1) / 3 * (2 * l**3 - 3 * l**2 + l) + l**2 * sum(gap - l + 1 for gap in gaps if gap >= l)
        for l in units
    )
    bottom = judges * total * (judges * total - 1) - sum(l * (l - 1) for l in units)
    return 1 - observed / (judges * (judges - 1) * total**2) / (2 / total * top / bottom)


def season(seed, documents=4, judges=3):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(documents):
        true = sorted(rng.choice(60, 6, replace=False).tolist())
        each = []
        for _ in range(judges):
            edges = sorted(set(np.clip(true + rng.integers(-2, 3, 6), 0, 60).tolist()))
            edges = edges[: len(edges) // 2 * 2]
            each.append([Span(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)])
        made.append(Document(60, each))
    return made


@pytest.mark.parametrize("seed", range(6))
def test_alpha_of_several_documents_and_judges_is_that_of_all_sections(seed):
    given = season(seed)
    assert unitising_alpha(given).value == pytest.approx(by_loops(given), abs=1e-9)


def test_intervals_draw_whole_documents():
    given = season(7, documents=20)
    found = unitising_alpha_with_interval(given, draws=200)
    assert found.low < found.value < found.high
    assert unitising_alpha_with_interval(given, draws=200) == found
    assert unitising_alpha_with_interval(given[:10]).low is None
    copied = unitising_alpha(given + given)
    assert copied.value == pytest.approx(found.value, abs=0.05)


def test_what_cannot_be_told_says_why():
    assert "nobody" in unitising_alpha([Document(10, [[], []])]).reason
    assert "two judges" in unitising_alpha([Document(10, [[Span(0, 3)]])]).reason
    assert "nobody" in unitising_alpha([PUBLISHED], "x").reason


@pytest.mark.parametrize(
    ("units", "said"), [([Span(0, 5), Span(4, 6)], "overlap"), ([Span(8, 12)], "outside"), ([Span(3, 3)], "empty")]
)
def test_spans_that_make_no_sense_are_refused(units, said):
    with pytest.raises(SettingError, match=said):
        unitising_alpha([Document(10, [units, []])])
