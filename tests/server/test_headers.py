"""Headers that keep browsers strict are on every answer: of judging, annotating, answering, and of pictures."""

from __future__ import annotations

import re

import pytest
from tests.server.test_routes import signed_in

from basanite.server.api import panels
from basanite.server.pages import demo, judge, reading
from basanite.server.roles import list_routes

OVERRIDES = {
    "pages/judge.py": judge.BOXED["Content-Security-Policy"],
    "api/panels.py": panels.BOXED["Content-Security-Policy"],
    "pages/reading.py": reading.DERIVATION_POLICY,
}
"""Anyone who sends a policy of their own; it must be a tighter one."""
FENCED = {"pages/demo.py": demo.REPORT_POLICY}
"""Reports that the demo made itself: their own scripts run, but as those of a stranger, and can reach nothing."""
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
KEPT = re.compile(r"no-store|private, no-cache|public, max-age=31536000, immutable")
SHARED = ("/leaderboard/embed", "/badge.svg")
"""What other sites show of a public leaderboard; it has no form and nothing of the reader's (P-39)."""
FAMILIES = ("judging", "annotat", "reading", "panel", "image", "adjudicat")


def lacking(answer):
    """What an answer does not forbid that it should."""
    headers, policy = answer.headers, answer.headers.get("content-security-policy", "")
    other = answer.headers.get("cross-origin-resource-policy") == "cross-origin"
    for name, value in ALWAYS.items():
        if headers.get(name) != value and not (other and name == "Cross-Origin-Resource-Policy"):
            yield f"{name}: {headers.get(name)}"
    if "default-src 'none'" not in policy or re.search(r"script-src[^;]*unsafe|\*", policy):
        yield f"policy: {policy}"
    if "sandbox" not in policy and "frame-ancestors 'none'" not in policy:
        yield f"may be framed: {policy}"
    if not KEPT.fullmatch(headers.get("cache-control", "")):
        yield f"cache: {headers.get('cache-control')}"


@pytest.mark.few(2)
@pytest.mark.req("X-16", "X-9")
@pytest.mark.parametrize("role", ["judge", "annotator", "evaluation", "visitor"])
def test_every_answer_of_every_route_keeps_browsers_strict(role, client, office, everybody):
    headers = {} if role == "visitor" else signed_in(office, everybody.people[role])
    wrong, families = [], set()
    for route in list_routes(client.app):
        if "GET" in route.methods:
            path = re.sub(r"{(\w+)(:\w+)?}", lambda at: "small" if at[1] == "slug" else "0" * 20, route.path)
            answer = client.get(path, headers=headers | {"Accept": "text/html"}, follow_redirects=False)
            families |= {family for family in FAMILIES if family in path}
            if path.endswith(SHARED):
                assert "set-cookie" not in answer.headers
                continue
            wrong += [(path, answer.status_code, fault) for fault in lacking(answer)]
    assert wrong == []
    assert families == set(FAMILIES)


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_policy_of_its_own_is_a_box(name):
    assert OVERRIDES[name].startswith("sandbox; default-src 'none'")
    assert "script" not in OVERRIDES[name].replace("allow-scripts", "script")


def test_nobody_else_sends_a_policy_of_their_own(repository):
    source = repository / "src" / "basanite" / "server"
    found = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if "Content-Security-Policy" in path.read_text("utf-8")
    }
    assert found == {"guard.py", "pages/leaderboard_exports.py", *OVERRIDES, *FENCED}


@pytest.mark.parametrize("name", FENCED)
def test_a_report_with_scripts_is_fenced_off_from_the_site_and_from_the_network(name):
    parts = dict(part.strip().partition(" ")[::2] for part in FENCED[name].split(";"))
    assert "allow-same-origin" not in parts["sandbox"]
    assert parts["default-src"] == parts["base-uri"] == parts["form-action"] == "'none'"
    assert not {"connect-src", "frame-src", "object-src"} & parts.keys()
    assert not [part for part in parts.values() if "http" in part or "*" in part or "'self'" in part]
