"""Plug-ins come in by entry points: everything registered loads and explains itself, and names are never in doubt."""

import os
import subprocess
import sys

import pytest

from basanite import registry
from basanite.errors import UnknownNameError

PLUGINS = [(plugin.group, plugin.name) for plugin in registry.plugins()]
EVERYTHING = [*PLUGINS, *(("metrics", name) for name in registry.names("metrics"))]


@pytest.mark.parametrize(("group", "name"), EVERYTHING)
def test_everything_registered_loads_under_its_own_name_and_says_what_it_is(group, name):
    if (group, name) == ("backends", "torch"):
        pytest.importorskip("torch")
    found = registry.load(group, name)
    assert name in (found.name, f"{getattr(found, 'family', '')}.{found.name}")
    assert found.summary.strip()


@pytest.mark.parametrize(("group", "name"), [pair for pair in EVERYTHING if pair[0] in ("tasks", "metrics")])
def test_tasks_and_metrics_cite_where_they_come_from(group, name):
    assert registry.load(group, name).citation.strip()


def test_our_own_plug_ins_are_listed_with_their_package_in_a_fixed_order():
    found = registry.plugins()
    assert ("tasks", "clir", "basanite") in {(plugin.group, plugin.name, plugin.package) for plugin in found}
    assert all(plugin.version and plugin.target for plugin in found)
    assert [p.group for p in found] == sorted((p.group for p in found), key=registry.GROUPS.index)
    for group in registry.GROUPS:
        assert list(registry.names(group)) == sorted(registry.names(group))


def test_every_metric_of_a_task_of_ours_that_is_a_function_of_rows_is_registered():
    registered = {id(registry.load("metrics", name)) for name in registry.names("metrics")}
    tasks = [registry.load("tasks", plugin.name) for plugin in registry.plugins() if plugin.group == "tasks"]
    by_rows = [(task, one) for task in tasks for one in task.metrics if one.by_rows]
    left_out = {f"{task.name}: {one.name}" for task, one in by_rows if id(one) not in registered}
    assert left_out == set()


@pytest.mark.parametrize(
    ("group", "name", "words"),
    [
        ("tasks", "clri", "No task is called 'clri'. Did you mean 'clir'?"),
        ("metrics", "aqvw", "No metric is called 'aqvw'. Did you mean 'aqwv'?"),
        ("outputs", "zzzz", "There are: "),
        ("embeddings", "x", "There are: tfidf."),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(group, name, words):
    with pytest.raises(UnknownNameError) as raised:
        registry.load(group, name)
    assert words in str(raised.value)


def plug_in(folder, package, group, entries):
    """A distribution as an installer would leave it: a folder of metadata on the path."""
    info = folder / f"{package}-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    lines = "".join(f"{name} = {target}\n" for name, target in entries.items())
    (info / "entry_points.txt").write_text(f"[basanite.{group}]\n{lines}")


def python(code, *paths):
    """What a fresh Python prints, with these folders on its path."""
    before = filter(None, [os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, paths), *before])}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_a_strangers_plug_in_comes_in_by_the_same_door(tmp_path):
    plug_in(tmp_path, "strange", "tasks", {"strange": "strange_module:TASK"})
    (tmp_path / "strange_module.py").write_text("TASK = 'a task'\n")
    code = (
        "from basanite import registry; print(registry.names('tasks'), registry.load('tasks', 'strange'), "
        "[(p.package, p.version, p.target) for p in registry.plugins() if p.name == 'strange'])"
    )
    names = (*registry.names("tasks"), "strange")
    assert python(code, tmp_path) == f"{tuple(sorted(names))} a task [('strange', '1.2', 'strange_module:TASK')]"


TRIED = (
    "from basanite import registry\nfrom basanite.errors import BasaniteError\n"
    "try:\n    {}\n    print('nothing was raised')\n"
    "except BasaniteError as error:\n    print(type(error).__name__, error)\n"
)


def test_two_plug_ins_with_one_name_are_an_error_that_names_both(tmp_path):
    plug_in(tmp_path, "rival", "tasks", {"clir": "rival_module:TASK"})
    said = python(TRIED.format("registry.load('tasks', 'clir')"), tmp_path)
    assert said.startswith("NameClashError")
    assert "rival (rival_module:TASK)" in said
    assert "basanite (basanite.tasks.clir:TASK)" in said
    assert python(TRIED.format("registry.load('tasks', 'langid')"), tmp_path) == "nothing was raised"
    listed = "from basanite import registry; print(sum(plugin.name == 'clir' for plugin in registry.plugins()))"
    assert python(listed, tmp_path) == "2"


def test_one_package_found_twice_on_the_path_is_no_clash(tmp_path):
    for folder in ("one", "two"):
        plug_in(tmp_path / folder, "strange", "tasks", {"strange": "strange_module:TASK"})
    code = "from basanite import registry; print('strange' in registry.names('tasks'))"
    assert python(code, tmp_path / "one", tmp_path / "two") == "True"


def test_a_plug_in_whose_dependency_is_missing_says_what_to_install_and_harms_no_other(tmp_path):
    plug_in(tmp_path, "heavy", "metrics", {"heavy": "heavy_module:METRIC"})
    (tmp_path / "heavy_module.py").write_text("import a_module_that_nobody_has\n")
    said = python(TRIED.format("registry.load('metrics', 'heavy')"), tmp_path)
    assert said.startswith("MissingExtraError")
    assert "a_module_that_nobody_has" in said
    assert "the extra of heavy that brings it" in said
    assert python(TRIED.format("registry.load('metrics', 'aqwv')"), tmp_path) == "nothing was raised"


def test_listing_names_imports_no_plug_in_and_nothing_heavy(tmp_path):
    plug_in(tmp_path, "loud", "tasks", {"loud": "loud_module:TASK"})
    (tmp_path / "loud_module.py").write_text("raise SystemExit('imported')\n")
    code = (
        "import sys; from basanite import registry; registry.plugins(); "
        "print([name for name in sys.modules if name.startswith(('basanite.tasks', 'basanite.metrics', 'numpy', "
        "'polars', 'scipy', 'loud'))], 'loud' in registry.names('tasks'))"
    )
    assert python(code, tmp_path) == "[] True"


def all_metrics():
    tasks = [registry.load("tasks", name) for name in registry.names("tasks")]
    return [(task.name, metric) for task in tasks for metric in task.metrics]


@pytest.mark.parametrize(("task", "metric"), all_metrics(), ids=lambda part: getattr(part, "name", part))
def test_every_metric_has_a_name_as_people_write_it(task, metric):
    name = metric.display_name
    assert "_" not in name
    assert name == "bpref" or name.lower() != name, f"{metric.name} is shown as its key: give it a title"
    assert name == name.strip()
    assert len(name) <= 30
    assert metric.summary.strip()


@pytest.mark.parametrize("name", registry.names("tasks"))
def test_no_two_metrics_of_a_task_have_one_name(name):
    shown = [metric.display_name for metric in registry.load("tasks", name).metrics]
    assert len(set(shown)) == len(shown), "a metric made by replace() keeps the title of the other: give it its own"


@pytest.mark.parametrize(
    ("task", "key", "name"),
    [
        *(("ranking", key, name) for key, name in (("ndcg_20", "nDCG@20"), ("p_5", "P@5"), ("recall_100", "R@100"))),
        ("ranking", "RBP(p=0.8)", "RBP(p=0.8)"),
        *(("clir", "aqwv", "AQWV"), ("captions", "cider_d", "CIDEr-D"), ("classification", "f1_macro", "F1 (macro)")),
        *(("parsing", "labelled_f1", "Labeled F1"), ("speech", "wer", "WER"), ("translation", "chrf", "chrF")),
    ],
)
def test_measures_have_the_names_of_their_literature(task, key, name):
    metric = registry.load("tasks", task).metric(key)
    assert metric.display_name == name
    assert registry.load("tasks", task).metric(name).display_name == name  # what a table shows can be asked for
