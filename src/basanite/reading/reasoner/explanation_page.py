"""Derivation trees as a page that opens in any browser, without scripts: steps unfold, leaves lead to the text (R-9).

Everything a stranger wrote is data here: the template escapes it, and the page's policy lets nothing run (X-14).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markupsafe import Markup

from basanite import __version__
from basanite.reading.patterns import Prefixes
from basanite.reading.reasoner.explanation import Explainer, Step, Tree
from basanite.reading.reasoner.given import Mention
from basanite.reading.reasoner.inference import Contradiction
from basanite.reading.rules.tree import goal_text, short, triple
from basanite.reading.terms import Statement
from basanite.reports import theme
from basanite.reports.outputs.html import asset, environment, favicon
from basanite.reports.wording import plural

OTHERS_SHOWN = 10
LINKS_SHOWN = 8
AROUND = 40
"""Characters of a text shown before and after the words that a statement rests on."""


@dataclass(frozen=True)
class Link:
    """A piece of text that a statement rests on: its words, and the place of the page that shows them."""

    document: str
    role: str
    before: str
    exact: str
    after: str
    anchor: str


@dataclass(frozen=True)
class Branch:
    """A tree as the page shows it."""

    words: tuple[str, ...]
    rule: str = ""
    comment: str = ""
    probability: str = ""
    bindings: tuple[tuple[str, str], ...] = ()
    below: tuple[Branch, ...] = ()
    tests: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    others: tuple[Branch, ...] = ()
    more_others: int = 0
    links: tuple[Link, ...] = ()
    cut: bool = False


@dataclass(frozen=True)
class Piece:
    """A run of a document's text, marked or not, with the places where links arrive."""

    lines: tuple[str, ...]
    marked: bool
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """Something that is explained: a statement, or a contradiction with the input behind it."""

    title: str
    says: str
    branch: Branch
    inputs: tuple[Branch, ...] = ()
    wrong: bool = False


@dataclass
class PageMaker:
    """Makes branches, and remembers which texts they lead to."""

    explainer: Explainer
    mentions: Mapping[Statement, Sequence[Mention]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    """Documents by name; a link to one that is not here shows its words only."""
    marks: dict[str, dict[tuple[int, int], str]] = field(default_factory=dict)

    @property
    def prefixes(self) -> Prefixes:
        """The short names to show terms in."""
        return self.explainer.inference.reasoner.rules.prefixes

    def statement(self, statement: Statement) -> Shown | None:
        """The explanation of a statement; nothing if it does not hold."""
        tree = self.explainer.tree(statement)
        if tree is None:
            return None
        inputs = tuple(tree.leaves())
        says = "Given, not derived."
        if tree.step is not None:
            steps, given = plural("step", tree.depth), plural("given statement", len(inputs))
            says = f"Derived in {steps} from {given}."
        return Shown("Derivation" if tree.step else "Given", says, self.branch(tree, folded=False))

    def contradiction(self, one: Contradiction) -> Shown:
        """The explanation of a contradiction, with the given statements behind it."""
        inputs = tuple(self.branch(Tree(statement, None)) for statement in self.explainer.behind(one))
        says = one.message or "These statements cannot all be true."
        if one.firing is not None:
            branch = self._step(("contradiction",), self.explainer.step(one.firing))
        else:
            below = (tree for tree in map(self.explainer.tree, one.antecedents) if tree is not None)
            branch = Branch(("contradiction",), one.rule, one.message, below=tuple(map(self.branch, below)))
        return Shown(one.rule, says, branch, inputs, wrong=True)

    def branch(self, tree: Tree, *, folded: bool = True) -> Branch:
        """A tree as it is shown; other derivations of its top are shown too, unless it stands inside another."""
        words = tuple(triple(tree.statement, self.prefixes))
        others = () if folded else tuple(self.explainer.others(tree.statement)[:OTHERS_SHOWN])
        shown = tuple(self._step(words, other.step) for other in others if other.step is not None)
        if tree.step is None:
            links = tuple(self._links(tree.statement))
            return Branch(words, others=shown, more_others=tree.others - len(shown), links=links, cut=tree.cut)
        return self._step(words, tree.step, shown, tree.others - len(shown))

    def _step(self, words: tuple[str, ...], step: Step, others: tuple[Branch, ...] = (), more: int = 0) -> Branch:
        return Branch(
            words,
            step.rule.name,
            step.rule.comment,
            "" if step.rule.probability is None else str(step.rule.probability),
            tuple((f"?{name}", short(term, self.prefixes)) for name, term in step.bindings.items()),
            tuple(self.branch(below) for below in step.antecedents),
            tuple(goal_text(goal, self.prefixes) for goal in step.tests),
            tuple(goal_text(goal, self.prefixes) for goal in step.absent),
            others,
            max(more, 0),
        )

    def _links(self, statement: Statement) -> Iterator[Link]:
        found = ((mention.document, span) for mention in self.mentions.get(statement, ()) for span in mention.spans)
        for document, span in list(found)[:LINKS_SHOWN]:
            anchor = ""
            if document in self.texts and 0 <= span.start < span.end <= len(self.texts[document]):
                marks = self.marks.setdefault(document, {})
                place = (span.start, span.end)
                number = sum(map(len, self.marks.values()))
                anchor = marks.setdefault(place, f"m{number}")
            before, after = around(self.texts[document], span.start, span.end) if anchor else (span.prefix, span.suffix)
            before, exact, after = (" ".join(part.split("\n")) for part in (before, span.exact, after))
            yield Link(document, span.role, before, exact, after, anchor)

    def documents(self) -> list[tuple[str, tuple[Piece, ...]]]:
        """The documents that links lead to, cut where marks begin and end."""
        return [(name, tuple(_pieces(self.texts[name], marks))) for name, marks in sorted(self.marks.items())]


def around(text: str, start: int, end: int) -> tuple[str, str]:
    """Some whole words before and after a piece of text.

    >>> around("The Broncos outlasted the Chiefs in overtime.", 12, 21)
    ('The Broncos ', ' the Chiefs in overtime.')
    """
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    if start > AROUND and " " in before:
        before = before[before.index(" ") + 1 :]
    if end + AROUND < len(text) and " " in after:
        after = after[: after.rindex(" ")]
    return before, after


def _pieces(text: str, marks: Mapping[tuple[int, int], str]) -> Iterator[Piece]:
    cuts = sorted({0, len(text), *(cut for span in marks for cut in span)})
    for start, end in pairwise(cuts):
        anchors = tuple(anchor for (first, _), anchor in sorted(marks.items()) if first == start)
        marked = any(first <= start and end <= last for first, last in marks)
        yield Piece(tuple(text[start:end].split("\n")), marked, anchors)


def page(kicker: str, title: str, shown: Iterable[Shown], maker: PageMaker) -> bytes:
    """The page, as one HTML file that needs nothing else."""
    style = f"{theme.css()}\n{asset('report.css')}{asset('derivation.css')}"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    text = (
        environment()
        .get_template("derivation.html")
        .render(
            kicker=kicker,
            title=title,
            shown=tuple(shown),
            documents=maker.documents(),
            style=Markup(style),
            policy=policy,
            favicon=favicon(),
            version=__version__,
        )
    )
    return (text.strip() + "\n").encode()
