"""Instructions for judges: the allowed tags survive, and nothing else can be more than text."""

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.formats.retrieval.instructions import DEEPEST, LONGEST, sanitize_instructions

SAFE = re.compile(r'</?(?:b|i|ul|li|font)>|<br>|<font color="(?:#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,20})">')


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain text", "plain text"),
        ("<b>bold</b> <I>italic</I>", "<b>bold</b> <i>italic</i>"),
        ("one<br/>two<br>", "one<br>two<br>"),
        ("<ul><li>a</li><li>b</li></ul>", "<ul><li>a</li><li>b</li></ul>"),
        ('<font color="#FF0000">red</font>', '<font color="#ff0000">red</font>'),
        ("<font color=red>red</font>", '<font color="red">red</font>'),
        ('<span style="color: blue">x</span>', '<font color="blue">x</font>'),
        ('<span style="font-size:9px; color:#abc;">x</span>', '<font color="#abc">x</font>'),
        ("1 &lt; 2 &amp; 3", "1 &lt; 2 &amp; 3"),
        ("a < b > c", "a &lt; b &gt; c"),
    ],
)
def test_allowed_tags_and_text_are_kept(given, shown):
    assert sanitize_instructions(given) == shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a<script>alert(1)</script>b", "ab"),
        ("a<SCRIPT src=x>alert(1)", "a"),
        ("<style>b{}</style>x", "x"),
        ("a<!-- <b> -->b", "ab"),
        ('<a href="javascript:alert(1)">x</a>', "x"),
        ('<img src=x onerror="alert(1)">', ""),
        ('<b onclick="alert(1)" style="x">y</b>', "<b>y</b>"),
        ('<span style="background:url(//x)">y</span>', "<font>y</font>"),
        ('<span style="background-color:red">y</span>', "<font>y</font>"),
        ("<font color=\"red' onload='x\">y</font>", '<font color="red">y</font>'),
        ("<font color=expression(alert(1))>y</font>", "<font>y</font>"),
        ("<scr<script>x</script>ipt>alert(1)</script>", "alert(1)"),
        ("<b><i>x</b></i>", "<b><i>x</i></b>"),
        ("</b>x<b>", "x<b></b>"),
        ("&lt;script&gt;", "&lt;script&gt;"),
        ("<svg onload=x><math><iframe src=y>", ""),
        ("<b", "&lt;b"),
        ("a\u202eb\x00c", "abc"),
    ],
)
def test_everything_else_is_dropped_or_shown_as_text(given, shown):
    assert sanitize_instructions(given) == shown


def test_instructions_are_bounded_in_length_and_depth():
    assert len(sanitize_instructions("x" * 10 * LONGEST)) == LONGEST
    assert sanitize_instructions("<b>" * 1000).count("<b>") == DEEPEST


TAGS = """<b> </b> <i > < & &lt ; <script> </script> <!-- --> " ' = &#60; x <![x <? <br/> <a_href=x>"""
PIECES = st.sampled_from([*TAGS.split(), "<font ", "color=", "red", "<span style=", "color:", "\x00", "\ud800", " "])


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=50))
def test_only_listed_tags_come_out_balanced_and_a_second_time_changes_nothing(text):
    shown = sanitize_instructions(text)
    rest = SAFE.sub("", shown)
    assert "<" not in rest
    assert ">" not in rest
    assert html.escape(html.unescape(rest)) == rest
    for tag in ("b", "i", "ul", "li", "font"):
        assert len(re.findall(rf"<{tag}[ >]", shown)) == shown.count(f"</{tag}>")
    assert sanitize_instructions(shown) == shown
