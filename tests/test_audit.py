"""What we run with is pinned, may be depended on, and is no version that is known to be bad."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest
from tools import audit
from tools.audit import Bad, is_allowed, known_bad, licence_of, needed, pins

EVERY = (*audit.RUN_TIME, "peers", "dev")


class Held:
    """A package as installers keep it."""

    def __init__(self, version="1.0", requires=(), **stated):
        self.version, self.requires, self.stated = version, list(requires), stated
        self.metadata = self

    def get_all(self, name):
        found = self.stated.get(name.replace("-", "_"))
        return [found] if isinstance(found, str) else found


def finder(**held):
    def find(name):
        if name not in held:
            raise PackageNotFoundError(name)
        return held[name]

    return find


def faults(held, pinned, bad=()):
    return {one.name: one.faults for one in audit.audit("ours", pinned, bad, extras=("more",), find=finder(**held))}


def test_every_package_that_we_run_with_is_pinned_and_may_be_depended_on(repository):
    pinned = pins((repository / "constraints.txt").read_text("utf-8"))
    bad = known_bad((repository / audit.KNOWN_BAD).read_text("utf-8"))
    found = audit.audit("basanite", pinned, bad)
    assert {one.name: one.faults for one in found if one.faults} == {}
    assert {"numpy", "fastapi", "cryptography", "pyoxigraph"} <= {one.name for one in found}


def test_what_tests_need_is_pinned_too(repository):
    pinned = pins((repository / "constraints.txt").read_text("utf-8"))
    assert sorted(name for name in needed("basanite", EVERY) if name not in pinned and name != "basanite") == []


def test_packages_that_others_bring_along_are_looked_at_too():
    held = {
        "ours": Held(
            requires=["first>=1", "never; python_version < '2'", "more; extra == 'more'"], License_Expression="MIT"
        ),
        "first": Held(requires=["second[x]"], License_Expression="MIT"),
        "second": Held(requires=["third; extra == 'x'", "fourth; extra == 'y'"], License_Expression="MIT"),
        "third": Held(License_Expression="GPL-3.0-only"),
        "more": Held("2.0", License_Expression="MIT"),
    }
    pinned = dict.fromkeys(("ours", "first", "second", "third"), "1.0") | {"more": "1.9"}
    found = faults(held, pinned)
    assert set(found) == set(held)
    assert found["third"] == ("its licence, GPL-3.0-only, is not among those that we may depend on",)
    assert found["more"] == ("2.0 is installed, 1.9 was tested",)
    assert found["first"] == ()


def test_a_package_without_a_pin_is_found_also_where_it_is_not_installed():
    held = {"ours": Held(requires=["absent"], License_Expression="MIT")}
    assert faults(held, {"ours": "1.0"})["absent"] == ("no version of it is fixed in constraints.txt",)


@pytest.mark.parametrize(("version", "is_bad"), [("1.9.9", True), ("1.10", False), ("2.0rc1", False)])
def test_a_version_that_is_known_to_be_bad_is_found(version, is_bad):
    held = {"ours": Held(version, License_Expression="MIT")}
    found = faults(held, {"ours": version}, [Bad("Ours", "1.10", "CVE-0", "it leaks")])
    assert found["ours"] == (("below 1.10: it leaks (CVE-0)",) if is_bad else ())


@pytest.mark.parametrize(
    ("stated", "licence"),
    [
        ({"License_Expression": "MIT AND Zlib"}, "MIT AND Zlib"),
        ({"License": "MIT License"}, "MIT"),
        ({"License": "Copyright (c) somebody", "Classifier": ["License :: OSI Approved :: MIT License"]}, "MIT"),
        ({"License": "Apache License, Version 2.0"}, "Apache-2.0"),
        ({"License": "GPLv3"}, "GPLv3"),
        ({}, "unknown"),
    ],
)
def test_licences_are_known_by_their_usual_spellings(stated, licence):
    assert licence_of(Held(**stated)) == licence


def test_a_choice_is_enough_and_a_part_is_not():
    assert is_allowed("(Apache-2.0 OR GPL-2.0-only) AND MIT") is False, "brackets are not worked out"
    assert [is_allowed(text) for text in ("MIT", "MIT OR GPL-3.0-only", "MIT AND GPL-3.0-only", "GPLv3")] == [
        True,
        True,
        False,
        False,
    ]


def test_it_says_what_it_cannot_do_without_a_network(capsys):
    assert audit.main([]) == 0
    told = capsys.readouterr().out
    assert "pip-audit -r constraints.txt" in told
    assert "0 with something wrong" in told
