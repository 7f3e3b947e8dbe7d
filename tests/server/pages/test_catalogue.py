"""Every sentence of the interface stands in the one catalogue, and templates hold no words of their own (P-33)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from basanite.server import catalogue
from basanite.server.catalogue import HERE

WORDS = re.compile(r"[A-Za-zÀ-ž]{2,}")
OURS = {"Basanite", "SHA"}
"""Names that are the same in every language."""


def test_the_catalogue_holds_what_is_said_and_nothing_else():
    said, held = catalogue.used_sentences(), set(catalogue.catalogue())
    assert sorted(said - held) == [], "run `python -m basanite.server.catalogue`"
    assert sorted(held - said) == []


@pytest.mark.parametrize(
    "path", sorted(HERE.glob("templates/**/*.html")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_template_has_no_words_of_its_own(path: Path):
    text = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "", path.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"<[^>]*>", " ", text)
    assert [word for word in WORDS.findall(text) if word not in OURS] == []
    labels = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"{]+)"', path.read_text(encoding="utf-8"))
    assert labels == []


def test_words_changed_in_the_file_are_what_readers_see(monkeypatch):
    monkeypatch.setitem(catalogue.catalogue(), "Sign in", "Anmelden")
    assert catalogue.say("Sign in") == "Anmelden"


def test_values_put_into_a_sentence_are_escaped_and_isolated():
    text = catalogue.say("{who} asks to join in your team {team}.", who="<b>", team="\u202eفريق")
    assert "&lt;b&gt;" in text
    assert "\u2068\\u202eفريق\u2069" in text


def test_code_in_a_sentence_is_set_as_code_and_is_gone_in_plain_text():
    assert "<code>basanite verify</code>" in catalogue.say("Keep it: `basanite verify` checks it.")
    assert catalogue.say_plain("Keep it: `basanite verify` checks it.") == "Keep it: basanite verify checks it."
