"""Tables by their columns: what CSV, TSV, JSON lines and Parquet files hold, by the names of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Layout:
    """A table that has certain columns, and the commands that read it."""

    name: str
    columns: tuple[str, ...]
    """The columns that it must have; it may have more."""
    commands: tuple[str, ...]
    """As those of a `Kind`: `{path}` is the file, words in capitals are other files."""
    record: str = "row"
    fix: str = ""
    """What to do with it, where no command reads it alone."""


_TEXT_TASKS: Final = ("translation", "speech", "captions", "summaries")

LAYOUTS: Final[tuple[Layout, ...]] = (
    Layout("values of units", ("unit", "system", "metric", "value"), ("compare --result {path}",), "value"),
    Layout(
        "ratings by experts and novices",
        ("passage", "judge", "panel", "rating"),
        ("score readability {path} SUBMISSION",),
        "rating",
    ),
    Layout(
        "judgments of summaries",
        ("judge", "query", "document", "verdict"),
        ("score e2e KEY SUBMISSION.tgz --judgements {path}",),
        "judgment",
    ),
    Layout(
        "judgments of relevance",
        ("item", "judge", "relevance"),
        ("score relevance {path} SUBMISSION", "judge agreement {path} --item item --value relevance"),
        "judgment",
    ),
    Layout("ratings of items by judges", ("judge", "item"), ("judge agreement {path}",), "rating"),
    Layout(
        "answers to reading tasks", ("query", "document", "answer"), ("score reading PACKAGE {path}",), record="answer"
    ),
    *(
        Layout("questions with answers", (name, column), ("score questions {path} SUBMISSION", *more), "question")
        for name in ("id", "question_id")
        for column, more in (("answers", ()), ("answer", ("score questions REFERENCE {path}",)))
    ),
    Layout("log-probabilities", ("id", "logprobs"), ("score lm {path}",), "sentence"),
    Layout("log-probabilities", ("id", "logprob", "tokens"), ("score lm {path}",), "sentence"),
    Layout("numbers of tokens", ("id", "tokens"), ("score lm {path} SUBMISSION",), "sentence"),
    Layout(
        "reference texts of items",
        ("id", "references"),
        tuple(f"score {task} {{path}} SUBMISSION" for task in _TEXT_TASKS),
        "item",
    ),
    Layout(
        "texts of items",
        ("id", "text"),
        tuple(f"score {task} REFERENCE {{path}}" for task in (*_TEXT_TASKS, "judged")),
        "item",
    ),
    Layout("scores of items", ("item", "score"), ("score scores {path}", "compare scores {path} OTHER"), "trial"),
    Layout("texts of items", ("item", "text"), ("score relevance REFERENCE {path}",), "item"),
    *(
        Layout("reviews", columns, (), "review", 'name it in a plan: data = { reader = "reviews", path = "…" }')
        for columns in (
            *(("reviewText", "overall"), ("review_text",), ("ReviewBody",), ("text", "stars"), ("text", "ratings")),
            *(("text", "overall", "service"), ("review", "rating"), ("Review", "Rating")),
        )
    ),
    *(
        Layout("true and predicted classes", columns, ("score classification {path}",), "item")
        for columns in (("y_true", "y_pred"), ("label", "prediction"), ("target", "prediction"), ("gold", "predicted"))
    ),
    *(
        Layout("true classes", columns, ("score classification {path} SUBMISSION",), "item")
        for columns in (("y_true",), ("id", "target"), ("id", "gold"))
    ),
    *(
        Layout("predicted classes", columns, ("score classification REFERENCE {path}",), "item")
        for columns in (("y_pred",), ("id", "prediction"), ("id", "predicted"))
    ),
    Layout(
        "labels of items",
        ("id", "label"),
        ("score classification {path} SUBMISSION", "score classification REFERENCE {path}"),
        "item",
    ),
    Layout("ratings of passages", ("passage", "rating"), ("score readability REFERENCE {path}",), "passage"),
    Layout("features", ("features",), ("measure run {path}",)),
    Layout(
        "columns of items",
        ("id",),
        ("score labels REFERENCE {path}", "score ratings REFERENCE {path}", "score TASK REF HYP --metadata {path}"),
        "item",
    ),
    *(
        Layout(f"factors of {things}", (column,), ("score TASK REF HYP --metadata {path}",), column)
        for column, things in (("document", "documents"), ("query", "queries"))
    ),
)
"""What tables hold, in the order in which they are tried: those with more columns first."""


def layout_of(columns: Sequence[str]) -> Layout | None:
    """The layout that a table with these columns has, whatever else it holds."""
    return next((layout for layout in LAYOUTS if set(layout.columns) <= set(columns)), None)
