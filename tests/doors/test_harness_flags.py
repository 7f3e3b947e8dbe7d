"""What the first page, the first slide and the terminal say when a learner has not learned (H-37)."""

from __future__ import annotations

import numpy as np
import pytest
from pptx import Presentation
from tests.cli.running import here
from tests.doors.harness_results import HEAD, run_plan
from tests.harness.plans import write_csv

AILING = "tests.doors.harness_ailing"
SMALL = "tests.harness.small_modules"
TASK = """
[tasks.reviews]
data = { reader = "reviews", path = "reviews.csv" }
targets = ["overall"]
metric = "mrmse"
range = [1, 5]
n = 80
folds = 2
shared_split = true
"""
TEAM = """
[[teams]]
letter = "{letter}"
name = "Team {letter}"
[teams.systems.reviews]
preprocessor = "tests.doors.harness_ailing:DENSE_WORDS"
learner = {learner}
linear = "{linear}"
"""
WELL = f'"{SMALL}:COMPONENTS"'
RIDGE = f"{SMALL}:MANY"
CPU = 'device = "cpu", units = 20'
FLAGS = {
    "a": (f'"{AILING}:EXPLODING"', RIDGE, "layer 2: its codes explode, the largest is "),
    "b": (f'"{AILING}:DEAD"', RIDGE, "layer 2: 11 of 12 units are dead"),
    "c": (f'"{AILING}:NARROW"', RIDGE, "layer 3: its 12 units have an effective rank of 1"),
    "d": (f'"{AILING}:BELOW_BOUND"', RIDGE, "layer 3: its loss fell to -982, below its bound 0"),
    "e": (f'"{AILING}:NO_NUMBER"', RIDGE, "layer 1: its loss is not a finite number"),
    "f": (
        f'{{ module = "sda", parameters = {{ rate = 1.0, {CPU} }} }}',
        RIDGE,
        "layer 1: no convergence, training did not lower its loss (",
    ),
    "g": (
        f'{{ module = "sda", parameters = {{ epochs = 1, batch = 4, rate = 0.01, {CPU} }} }}',
        RIDGE,
        "layer 3: no convergence, its loss was still falling when training ended after 1 epoch",
    ),
    "h": (WELL, f"{AILING}:WARNING", "classify: ConvergenceWarning: the solver stopped early (6 warnings)"),
    "i": (WELL, f"{AILING}:FAR_OFF", "all predictions of a fold were clipped"),
    "j": (WELL, RIDGE, ""),
}


def synonyms(rows, seed=3):
    """Reviews of twelve words, each a synonym of the mood of the review or one beside it: words many, labels few."""
    dice = np.random.default_rng(seed)
    made = []
    for _ in range(rows):
        rating = int(dice.integers(1, 6))
        moods = np.clip(rating + dice.integers(-1, 2, 12), 1, 5)
        words = [f"mood{mood}word{dice.integers(40)}" for mood in moods]
        made.append({"text": " ".join(words), "restaurant": "one", **dict.fromkeys(RATINGS, str(rating))})
    return made


SYSTEMS = [f"6{letter}" for letter in FLAGS]
RATINGS = ("overall", "food", "ambiance", "service", "noise")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A plan of ten teams, nine of which ail in a way of their own."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("ailing")
    write_csv(folder / "reviews.csv", synonyms(240))
    teams = "".join(
        TEAM.format(letter=letter, learner=learner, linear=linear) for letter, (learner, linear, _) in FLAGS.items()
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        return run_plan(folder, HEAD + TASK + teams, "--only", ",".join(("5a", "5d", "5g", "4j", "5j", *SYSTEMS)))


@pytest.fixture(scope="module")
def pages(made):
    page, slides = made.path / "page.html", made.path / "slides.pptx"
    ended = here("harness", "report", made.path, "--draws", "100", "--html", page, "--pptx", slides)
    assert ended.code == 0, ended.stderr
    return page.read_text("utf-8"), Presentation(slides), ended.stdout


def flags_of(made, run):
    (status,) = (entry for entry in made.json("status.json")["runs"] if entry["run"] == run)
    return status["flags"]


@pytest.mark.few(3)
@pytest.mark.req("H-37")
@pytest.mark.parametrize("letter", [letter for letter, (_, _, flag) in FLAGS.items() if flag])
def test_what_ails_stands_on_the_first_page_in_the_terminal_and_on_the_slides(made, pages, letter):
    flag = FLAGS[letter][2]
    page, slides, printed = pages
    first = page.partition('<section class="card flags"')[2].partition("</section>")[0]
    assert page.index('class="card flags"') < page.index('aria-label="Headline"')
    (line,) = (line for line in first.splitlines() if f"run 6{letter}: " in line)
    shown = flag.replace(" -", " −")  # as pages and slides write it
    assert shown in line
    assert any(text.startswith(f"! reviews: run 6{letter}: ") and flag in text for text in printed.splitlines())
    doubts = [slide for slide in slides.slides if slide.shapes.title and "In doubt" in slide.shapes.title.text]
    assert any(f"run 6{letter}: " in words and shown in words for slide in doubts for words in texts(slide))
    assert any(told.startswith(f"Run 6{letter}: ") and flag in told for told in made.analysis(task="reviews")["flags"])


def texts(slide):
    return [
        paragraph.text for shape in slide.shapes if shape.has_text_frame for paragraph in shape.text_frame.paragraphs
    ]


@pytest.mark.req("H-37")
def test_the_first_slide_says_that_there_is_doubt_and_how_much_more(pages):
    cover = texts(pages[1].slides[0])
    assert any(words.startswith("In doubt: reviews: run 6a: layer 2: its codes explode") for words in cover)
    assert any(words.endswith(" more follow") for words in cover)


@pytest.mark.req("H-37")
def test_a_run_of_one_layer_has_only_the_flags_of_that_layer(made):
    assert flags_of(made, "5a") == flags_of(made, "5d") == []
    assert flags_of(made, "5g")[0].startswith("layer 1: no convergence")
    assert not any(flag.startswith(("layer 2", "layer 3")) for flag in flags_of(made, "5g"))


@pytest.mark.req("H-37", case="good")
def test_a_team_that_is_well_has_no_flag_and_a_result_without_doubt_no_place_for_it(made, tmp_path):
    assert [flags_of(made, run) for run in ("4j", "5j", "6j")] == [[], [], []]
    write_csv(tmp_path / "reviews.csv", synonyms(240))
    well = run_plan(tmp_path, HEAD + TASK + TEAM.format(letter="j", learner=WELL, linear=RIDGE))
    page, slides = tmp_path / "page.html", tmp_path / "slides.pptx"
    assert here("harness", "report", well.path, "--draws", "100", "--html", page, "--pptx", slides).code == 0
    assert "card flags" not in page.read_text("utf-8")
    assert not any("In doubt" in words for slide in Presentation(slides).slides for words in texts(slide))


@pytest.mark.req("H-37")
def test_a_lower_layer_whose_codes_are_no_numbers_is_flagged_and_its_run_ends_well(tmp_path):
    write_csv(tmp_path / "reviews.csv", synonyms(240))
    team = TEAM.format(letter="a", learner=f'"{AILING}:NOT_FINITE"', linear=RIDGE)
    found = run_plan(tmp_path, HEAD + TASK + team, "--only", "6a")
    assert flags_of(found, "6a") == ["layer 2: some of its codes are not finite numbers"]


@pytest.mark.req("H-37")
def test_warnings_of_libraries_become_flags_and_no_noise_in_the_terminal(made, tmp_path):
    assert "ConvergenceWarning" not in made.ended.stderr
    assert "example.org" not in made.ended.stderr
    shown = here("harness", "status", made.path)
    (line,) = (line for line in shown.stdout.splitlines() if line.startswith("! run 6h: "))
    assert line == "! run 6h: classify: ConvergenceWarning: the solver stopped early (6 warnings)"


@pytest.mark.req("H-37")
def test_a_learner_none_of_whose_layers_beats_random_weights_is_named_on_the_first_page(tmp_path):
    write_csv(tmp_path / "reviews.csv", synonyms(240))
    result = run_plan(tmp_path, HEAD + TASK + TEAM.format(letter="a", learner=f'"{AILING}:UNTOUCHED"', linear=RIDGE))
    words = ("--plan", tmp_path / "plan.toml", "--layers", "--draws", "100", "--json")
    told = here("harness", "analyse", result.path, *words)
    wanted = "reviews: no layer of Team a does better than the same with random weights."
    assert told.data["flags"] == [wanted]
    page = tmp_path / "page.html"
    assert here("harness", "report", result.path, "--draws", "100", "--html", page).code == 0
    assert wanted in page.read_text("utf-8").partition('<section class="card flags"')[2].partition("</section>")[0]


@pytest.mark.req("H-37", case="bad")
def test_cross_entropy_of_inputs_below_0_is_refused_with_the_cure(tmp_path):
    pytest.importorskip("torch")
    rows = np.random.default_rng(1).normal(size=(120, 6)).round(3)
    names = [f"x{at}" for at in range(6)]
    lines = [{**dict(zip(names, map(str, row), strict=True)), "Eat": str(int(row[0] > 0))} for row in rows]
    write_csv(tmp_path / "rows.csv", lines)
    text = f"""
[tasks.rows]
data = {{ reader = "table", path = "rows.csv" }}
targets = ["Eat"]
metric = "map11"
n = 40
folds = 2
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.rows]
preprocessor = "scaled"
learner = {{ module = "sda", parameters = {{ loss = "cross-entropy", {CPU} }} }}
linear = "{SMALL}:MANY"
"""
    result = run_plan(tmp_path, HEAD + text, "--only", "6a", code=1)
    assert "Use auto or squared" in result.reasons["6a"]


@pytest.mark.req("H-37", case="good")
def test_the_stacked_autoencoder_beats_raw_words_and_the_constant_where_words_have_synonyms(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_csv(tmp_path / "reviews.csv", synonyms(1_500))
    learner = '{ module = "sda", parameters = { units = 60, device = "cpu" } }'
    result = run_plan(tmp_path, HEAD + TASK + TEAM.format(letter="b", learner=learner, linear="svr-linear"))
    values = {run: np.mean(result.values(run, "overall")) for run in ("4b", "6b")}
    truth = result.truth("reviews", "overall")
    assert values["6b"] < values["4b"] - 0.05
    assert values["6b"] < truth.std() - 0.05
    predicted = result.predictions("reviews", "6b", "overall")
    assert predicted.min() > 0
    assert predicted.max() < 6
    assert flags_of(result, "6b") == []
