"""The page that crowd workers see: HTML in an HTMLQuestion, its variables filled from a row of the batch.

Every answer has a name. Everything that stands in a variable is escaped or sanitised beforehand, since the platform
puts it into the page as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from basanite.judging.schemes.model import Question, Scheme

FRAME_HEIGHT: Final = 900
SCHEMA: Final = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
ELEMENTS: Final = "https://assets.crowd.aws/crowd-html-elements.js"
STYLE: Final = (
    "body{font:16px/1.5 sans-serif;max-width:52rem;margin:1rem auto;padding:0 1rem}"
    "fieldset{border:1px solid #999;border-radius:4px;margin:1rem 0}"
    ".theirs{border:1px dashed #999;padding:.5rem 1rem}img{max-width:100%}label{display:block;padding:.25rem 0}"
)


def question_xml(scheme: Scheme, variables: Sequence[str], *, height: int = FRAME_HEIGHT) -> str:
    """The template: one HTMLQuestion for all rows of a batch."""
    page = page_html(scheme, variables).replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<HTMLQuestion xmlns="{SCHEMA}">\n<HTMLContent><![CDATA[\n{page}\n]]></HTMLContent>\n'
        f"<FrameHeight>{height}</FrameHeight>\n</HTMLQuestion>\n"
    )


def page_html(scheme: Scheme, variables: Sequence[str]) -> str:
    """The page by itself, for the platform's own editor of templates."""
    parts = [
        "<!DOCTYPE html>",
        '<html><head><meta charset="utf-8">',
        f"<title>{escape(scheme.title)}</title>",
        f'<script src="{ELEMENTS}"></script>',
        f"<style>{STYLE}</style></head><body>",
        "<crowd-form>",
        f"<h1>{escape(scheme.title)}</h1>",
        f"<p>{scheme.instructions}</p>",
        *(_shown(name) for name in variables),
        *(_asked(question) for question in scheme.questions),
        *_flags(scheme),
        '<label>Comment <textarea name="comment" rows="2" maxlength="1000"></textarea></label>',
        "</crowd-form></body></html>",
    ]
    return "\n".join(parts)


def _shown(name: str) -> str:
    if name.startswith("image"):
        return f'<p><img src="${{{name}}}" alt="summary"></p>'
    if name.startswith("instructions"):
        return f'<section class="theirs"><h2>Written by the system</h2>${{{name}}}</section>'
    title = escape(name.rstrip("0123456789_").capitalize())
    return f'<section><h2>{title}</h2><div dir="auto">${{{name}}}</div></section>'


def _asked(question: Question) -> str:
    head = f"<fieldset><legend>{escape(question.title)}</legend>"
    return "\n".join([head, *_inputs(question), "</fieldset>"])


def _inputs(question: Question) -> Iterator[str]:
    needed = " required" if question.required else ""
    name = escape(question.id)
    if question.widget == "choice":
        choices = [(option.value, option.title) for option in question.options]
    elif question.widget in ("stars", "scale"):
        choices = [(f"{step:g}", _label(question, at, step)) for at, step in enumerate(question.steps)]
    else:
        yield _field(question, name, needed)
        return
    for value, title in choices:
        radio = f'<input type="radio" name="{name}" value="{escape(value)}"{needed}>'
        yield f"<label>{radio} {escape(title)}</label>"


def _label(question: Question, at: int, step: float) -> str:
    labels, last = question.labels, len(question.steps) - 1
    if len(labels) == last + 1:
        return f"{step:g}: {labels[at]}"
    ends = {0: labels[0], last: labels[1]} if len(labels) == 2 else {}
    return f"{step:g}: {ends[at]}" if at in ends else f"{step:g}"


def _field(question: Question, name: str, needed: str) -> str:
    if question.widget == "slider":
        bounds = f'min="{question.lo:g}" max="{question.hi:g}" step="{question.step:g}"'
        return f'<input type="number" name="{name}" {bounds}{needed}>'
    return f'<textarea name="{name}" rows="3" maxlength="{question.longest}"{needed}></textarea>'


def _flags(scheme: Scheme) -> Iterator[str]:
    for flag in scheme.flags:
        yield f'<label><input type="checkbox" name="flag-{escape(flag.value)}" value="on"> {escape(flag.title)}</label>'
