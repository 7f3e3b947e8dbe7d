"""YAML from strangers: every scalar stays text, and every trick is refused with its line."""

import pytest

from basanite.problems import Findings
from basanite.reading.strict_yaml import LARGEST, Faults, YamlList, YamlMap, YamlText, read_yaml


def parsed(text):
    findings = Findings()
    return read_yaml(text if isinstance(text, bytes) else text.encode(), Faults("x.yaml", "R-12", findings)), findings


def test_every_scalar_stays_text():
    value, findings = parsed("a: [no, 2005-01-15, 12:30, 0x10, ~, 1_000, '?g p true']\n")
    assert findings.problems == []
    assert isinstance(value, YamlMap)
    items = value.entries["a"]
    assert isinstance(items, YamlList)
    texts = ["no", "2005-01-15", "12:30", "0x10", "~", "1_000", "?g p true"]
    assert [item.text for item in items.items if isinstance(item, YamlText)] == texts
    assert items.items[-1].quoted
    assert not items.items[0].quoted


REFUSED = {
    "a: 1\nb: &x [1]\n": ("X-8", 2, "anchor"),
    "a: [1]\nb: *a\n": ("X-8", 2, "alias"),
    "a: 1\n\nb: !!python/object:os.system x\n": ("X-8", 3, "tag"),
    "a: !mine x\n": ("X-8", 1, "tag"),
    "a: 1\nb: 2\na: 3\n": ("X-8", 3, "appears twice"),
    "a: 1\n---\nb: 2\n": ("X-8", 3, "second document"),
    "[" * 100 + "]" * 100: ("X-8", 1, "deep"),
    "[?g, p, true]: x\n": ("R-12", 1, "a key is"),
    "a: [1\nb: 2\n": ("R-12", 2, "not YAML"),
    b"a: \xff\n": ("R-12", 1, "UTF-8"),
    "a: \x07\n": ("R-12", None, "not YAML"),
    b"#" * (LARGEST + 1): ("X-8", None, "bytes"),
}


@pytest.mark.parametrize("text", REFUSED, ids=[str(value[2]) + str(i) for i, value in enumerate(REFUSED.values())])
def test_a_trick_is_refused_with_its_line(text):
    value, findings = parsed(text)
    (problem,) = findings.problems
    rule, line, words = REFUSED[text]
    assert (value, problem.rule, problem.line) == (None, rule, line)
    assert words in problem.message


def test_an_empty_file_is_nothing():
    assert parsed("")[0] is None


def test_the_line_of_a_key_is_kept():
    value, _ = parsed("a: 1\n\nb:\n  - 2\n")
    assert isinstance(value, YamlMap)
    assert value.lines == {"a": 1, "b": 3}
