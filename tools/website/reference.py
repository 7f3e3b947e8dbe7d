"""The pages of the reference that are made from the code at every build."""

from __future__ import annotations

from collections.abc import Iterator

from tools.website.calls import http_page
from tools.website.commands import command_pages
from tools.website.formats import formats_page
from tools.website.models import campaign_page, plan_page, scheme_page, settings_page
from tools.website.registered import metrics_page, plugins_page, tasks_page

FOLDER = "reference/generated"
MADE_FROM_CODE = "This page is made from the code each time the site is built."


def generated_pages() -> Iterator[tuple[str, str]]:
    """Name and text of every generated page."""
    yield f"{FOLDER}/tasks.md", tasks_page()
    yield f"{FOLDER}/metrics.md", metrics_page()
    yield f"{FOLDER}/plugins.md", plugins_page()
    yield f"{FOLDER}/formats.md", formats_page()
    yield f"{FOLDER}/http.md", http_page()
    yield f"{FOLDER}/server-settings.md", settings_page()
    yield f"{FOLDER}/campaign-model.md", campaign_page()
    yield f"{FOLDER}/plan-model.md", plan_page()
    yield f"{FOLDER}/scheme-model.md", scheme_page()
    for name, text in command_pages():
        yield f"{FOLDER}/commands/{name}.md", text
