"""Every kind of HTML report in a browser: nobody is kept out in light or dark, and nothing runs off a phone."""

import pytest
from tests.browser import PHONE, SCHEMES, kept_out, sideways
from tests.reading.test_explain import hostile_page
from tests.reports.test_explorer import mistakes, page

from basanite.reports import write

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
KINDS = ("score", "compare", "strangers", "mistakes", "derivation")
DRAWN = "() => document.querySelectorAll('[data-chart]').length === document.querySelectorAll('[data-drawn]').length"


@pytest.fixture(scope="module")
def files(score, compare, hostile, tmp_path_factory):
    """A file of each kind: results, comparisons, words of strangers, single mistakes, and why something holds."""
    folder = tmp_path_factory.mktemp("reports")
    for name, report in (("score", score), ("compare", compare), ("strangers", hostile["score"])):
        write(report, folder / f"{name}.html")
    (folder / "mistakes.html").write_text(page(mistakes(40)), encoding="utf-8")
    (folder / "derivation.html").write_text(hostile_page(), encoding="utf-8")
    return folder


@pytest.mark.few(1)
@pytest.mark.req("P-17", "P-33")
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_kept_out_of_a_report(chrome, files, kind):
    asked = []
    tab = chrome.new_page(viewport={"width": 1280, "height": 900}, color_scheme=SCHEMES[0])
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((files / f"{kind}.html").as_uri())
    tab.wait_for_function(DRAWN)
    assert kept_out(tab) == []
    assert sideways(tab, PHONE["width"]) == []
    assert [url for url in asked if not url.startswith("data:")] == [tab.url], "asks nobody"
    tab.close()
