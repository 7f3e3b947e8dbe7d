"""`basanite transcripts`: calls in a terminal, as JSON, and on a page that runs nothing but its own script (L-4)."""

from __future__ import annotations

import pytest
from tests.cli.running import here
from tests.models.loopback_model import LoopbackModel, Reply, serving, sum_of
from tests.models.test_run import COMMAND, ITEMS, written

HOSTILE = '</script><script>document.title="taken"</script><img src=x onerror=\'document.title="taken"\'>'


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs: one adds, the other says something hostile, refuses one item and fails at one."""
    folder = tmp_path_factory.mktemp("runs")
    too_long = Reply(400, b'{"error": {"message": "too long"}}')

    def fault(number, prompt):
        return too_long if " 5 " in prompt else None

    def strange(prompt):
        return "I cannot" if " 4 " in prompt else f"{HOSTILE}\nAnswer: 7"

    for out, answer, broken in (("adder", sum_of, None), ("strange", strange, fault)):
        with serving(LoopbackModel(answer=answer, fault=broken or (lambda number, prompt: None))) as model:
            written(folder, model)
            path = folder / "system.toml"
            text = path.read_text().replace('"adder"', f'"{out}"')
            path.write_text(text.replace("[price]", "refusal = 'I cannot'\n[price]"))
            ended = here(*COMMAND[:-1], out, "--reference", "items.jsonl", "--accept-errors", cwd=folder)
            assert ended.code == 0, ended.stderr
    return folder


@pytest.mark.req("L-4")
def test_calls_are_found_by_words_state_and_item(runs):
    shown = here("transcripts", "adder", "strange", "--json", "--search", "PLUS q5", cwd=runs).data["systems"]
    assert [one["system"] for one in shown] == ["adder", "strange"]
    assert [one["found"] for one in shown] == [1, 1]
    for state, item in (("failed", "q5"), ("refused", "q4")):
        (found,) = here("transcripts", "strange", "--state", state, "--json", cwd=runs).data["systems"]
        assert [call["item"] for call in found["calls"]] == [item]
    one = here("transcripts", "adder", "--item", "q3", cwd=runs)
    assert f"adder: {ITEMS} calls ({ITEMS} answered)" in one.stdout
    assert "q3: answered, score 1\n  [user]\n  What is 3 plus 7?" in one.stdout


@pytest.mark.req("L-4", case="bad")
def test_what_is_no_transcript_is_refused_with_its_file(runs):
    wrong = here("transcripts", "items.jsonl", cwd=runs)
    assert wrong.code == 1
    assert "items.jsonl" in wrong.stderr
    assert "no call of a model run" in wrong.stderr
    assert here("transcripts", "nothing-here", cwd=runs).code != 0
    (runs / "begun.jsonl").write_text('{"format": "basanite-transcripts/1"}\n')
    begun = here("transcripts", "begun.jsonl", cwd=runs)
    assert (begun.code, "there is no call in it" in begun.stderr) == (1, True)


@pytest.mark.req("L-4")
@pytest.mark.browser
def test_the_page_shows_systems_side_by_side_and_runs_no_answer(runs, chrome):
    ended = here("transcripts", "adder", "strange", "--out", "page.html", cwd=runs)
    assert ended.code == 0, ended.stderr
    context = chrome.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    wrong = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("request", lambda request: request.url.startswith("http") and wrong.append(request.url))
    tab.goto((runs / "page.html").as_uri())
    tab.get_by_text(f"{ITEMS} of {ITEMS} rows.").wait_for()
    assert tab.locator("article").count() == ITEMS
    assert tab.locator("article").first.locator("section").count() == 2
    tab.get_by_label("Search").fill("q5")
    tab.get_by_text(f"1 of {ITEMS} rows.").wait_for()
    assert "too long" in tab.inner_text("main")
    tab.get_by_role("button", name="Clear filters").click()
    tab.get_by_label("Only items with different answers").check()
    tab.get_by_text(f"{ITEMS - 1} of {ITEMS} rows.").wait_for()  # both say 7 to "0 plus 7"
    tab.get_by_label("State").select_option("refused")
    tab.get_by_text(f"1 of {ITEMS} rows.").wait_for()
    assert HOSTILE.split("\n")[0] not in tab.inner_text("article")
    assert (tab.title(), wrong) == ("adder, strange – transcripts", [])
    context.close()
