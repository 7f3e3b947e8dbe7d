"""The example of questions: `python -m tests.synthetic.questions_example FOLDER` makes it again, byte for byte."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

SEED, PICTURES, ASKED, PEOPLE = 20, 20, 3, 10
COLOURS, NUMBERS = ("red", "blue", "green", "white"), ("1", "2", "3", "4")
THINGS = ("a dog", "a kite", "the bus", "tennis", "an umbrella", "black-white cows")
KINDS = (
    ("what color is the", "other", "What color is the {0}?", COLOURS),
    ("how many", "number", "How many {0}s are there?", NUMBERS),
    ("is the", "yes/no", "Is the {0} in front?", ("yes", "no")),
    ("what is", "other", "What is behind the {0}?", THINGS),
)
SUBJECTS = ("man", "girl", "horse", "car", "boat")
AS_WORDS = {"1": "one", "2": "two", "3": "three", "4": "four"}
SYSTEMS = {"Alpha": 0.8, "Beta": 0.5}
TOWNS = ("Arlen", "Bexley", "Corvo", "Dunmar", "Esk", "Farrow", "Glint", "Hollin", "Ister", "Jarrow", "Kelm", "Lorne")
TOPICS = ("bridge", "market", "harbor", "tower")


def annotated(dice: random.Random) -> list[dict[str, Any]]:
    """Three questions about each picture, with ten answers of people who agree more or less."""
    found = []
    for picture in range(1, PICTURES + 1):
        for at, (kind, answers, text, words) in enumerate(dice.sample(KINDS, ASKED)):
            right, ease = dice.choice(words), dice.uniform(0.5, 1)
            said = [right if dice.random() < ease else dice.choice(words) for _ in range(PEOPLE)]
            people = [AS_WORDS.get(one, one) if dice.random() < 0.3 else one for one in said]
            found.append(
                {
                    "question_id": 10 * picture + at,
                    "image_id": picture,
                    "question_type": kind,
                    "answer_type": answers,
                    "question": text.format(dice.choice(SUBJECTS)),
                    "right": right,
                    "words": words,
                    "people": people,
                }
            )
    return found


def pictures(folder: Path, dice: random.Random) -> None:
    """The annotations, the questions and the results of two systems, as VQA has them."""
    asked = annotated(dice)
    head = {"info": {"description": "made up"}, "license": {"name": "CC0"}, "data_subtype": "made"}
    ids = ("question_id", "image_id", "question_type", "answer_type")
    annotations = [
        {name: one[name] for name in ids}
        | {"multiple_choice_answer": one["right"]}
        | {"answers": [{"answer": text, "answer_id": at} for at, text in enumerate(one["people"], start=1)]}
        for one in asked
    ]
    write(folder / "annotations.json", {**head, "annotations": annotations})
    questions = [{name: one[name] for name in ("question_id", "image_id", "question")} for one in asked]
    write(folder / "questions.json", {**head, "task_type": "Open-Ended", "questions": questions})
    for name, quality in SYSTEMS.items():
        given = [one["right"] if dice.random() < quality else dice.choice(one["words"]) for one in asked]
        results = [{"question_id": one["question_id"], "answer": text} for one, text in zip(asked, given, strict=True)]
        write(folder / f"{name}.json", results)


def passages(folder: Path, dice: random.Random) -> None:
    """Articles of two questions, one in four of which has no answer, and predictions, as SQuAD 2.0 has them."""
    articles, predictions = [], {name: {} for name in SYSTEMS}
    for town in (f"{first} {second}" for first in ("Old", "New") for second in TOWNS):
        year, topic, color = dice.randint(1650, 1950), dice.choice(TOPICS), dice.choice(COLOURS)
        context = f"{town} is a town by the sea. The {color} {topic} was built in {year}."
        asked = []
        for text, span in (
            (f"When was the {topic} of {town} built?", str(year)),
            ("What was built?", f"The {color} {topic}"),
        ):
            name = f"{dice.getrandbits(96):024x}"
            answers = [{"text": span, "answer_start": context.index(span)}] if dice.random() < 0.75 else []
            asked.append({"id": name, "question": text, "answers": answers, "is_impossible": not answers})
            for system, quality in SYSTEMS.items():
                right = span if answers else ""
                predictions[system][name] = right if dice.random() < quality else dice.choice((topic, span, ""))
        articles.append({"title": town, "paragraphs": [{"context": context, "qas": asked}]})
    write(folder / "dev.json", {"version": "v2.0", "data": articles})
    for system, answers in predictions.items():
        write(folder / f"{system}.predictions.json", answers)


def write_example(folder: Path) -> None:
    """Write both references and the answers of two systems to each."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(SEED)
    pictures(folder, dice)
    passages(folder, dice)


def write(path: Path, value: Any) -> None:
    """One JSON value, a line for each entry of the innermost lists."""
    path.write_text(json.dumps(value, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_example(Path(sys.argv[1]))
