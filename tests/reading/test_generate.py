"""Reading tasks: chosen from a package, named by what they hold, and written as they are made."""

import json
import tracemalloc

import pytest
import rdflib
from tests.cli.running import here
from tests.reading.packages import TEXTS, small_package

from basanite.errors import SettingError
from basanite.problems import Findings
from basanite.reading.generate import TaskSpec, make_task
from basanite.reading.package import read_package
from basanite.reading.package.annotations import read_annotations
from basanite.reading.package.ndjson import LineFaults
from basanite.reading.prov_rdf import assertion_rows
from basanite.reading.queries import Choice, answers
from basanite.reading.rdf import write_rdf
from basanite.reading.terms import TS

TASK = rdflib.Namespace(TS)


@pytest.fixture
def root(tmp_path):
    return small_package(tmp_path / "small")


def package(root):
    return read_package(root, Findings())


def graph(task, tmp_path):
    with (tmp_path / "task.nt").open("wb") as file:
        task.write(file, "ntriples")
    return rdflib.Graph().parse(tmp_path / "task.nt")


def test_a_task_holds_queries_with_answers_documents_and_examples(root, tmp_path):
    task = make_task(package(root), TaskSpec("train"))
    found = graph(task, tmp_path)
    names = {str(found.value(query, TASK.name)) for query in found.objects(None, TASK.query)}
    assert {"periods", "points", "class/NFLGame", "property/gameWinner"} <= names
    assert "property/gameDate" not in names
    assert {str(text) for text in found.objects(None, TASK.text)} == {TEXTS["train/d1"], TEXTS["train/d2"]}
    assert len(set(found.subjects(rdflib.RDF.type, TASK.Assertion))) == 10
    assert all(found.value(query, TASK.question) for query in found.objects(None, TASK.query))


def test_the_sparql_of_a_task_finds_the_same_answers_in_its_own_graph(root, tmp_path):
    task = make_task(package(root), TaskSpec("train", source="package"))
    found = graph(task, tmp_path)
    statements = [s for _, each in task.package.statements("train", task.documents) for s in each]
    for query in task.queries:
        node = next(node for node in found.objects(None, TASK.query) if str(found.value(node, TASK.name)) == query.id)
        assert len(list(found.query(str(found.value(node, TASK.sparql))))) == len(answers(query, statements)) > 0


def test_a_query_of_the_package_is_not_generated_again(root):
    names = [query.id for query in make_task(package(root), TaskSpec("train")).queries]
    assert "periods" in names
    assert "property/numberOfPeriods" not in names
    generated = make_task(package(root), TaskSpec("train", source="generated"))
    assert "property/numberOfPeriods" in [query.id for query in generated.queries]


def test_a_task_of_a_sealed_part_never_shows_its_annotations(root, tmp_path):
    found = graph(make_task(package(root), TaskSpec("test")), tmp_path)
    assert not list(found.subjects(rdflib.RDF.type, TASK.Assertion))
    assert [str(text) for text in found.objects(None, TASK.text)] == [TEXTS["test/d3"]]
    assert "hasOvertimePlay" not in " ".join(str(s) + str(o) for s, o in found.subject_objects(TASK.says))


def test_the_name_of_a_task_is_a_hash_of_what_it_holds(root):
    made = package(root)
    same = make_task(made, TaskSpec("train"))
    assert same.id == make_task(made, TaskSpec("train")).id
    others = [
        TaskSpec("test"),
        TaskSpec("train", Choice(sample=1)),
        TaskSpec("train", phase="1"),
        TaskSpec("train", texts=False),
        TaskSpec("train", annotations=False),
        TaskSpec("train", unanswered=True),
    ]
    ids = {make_task(made, spec).id for spec in others}
    assert len(ids | {same.id}) == len(others) + 1
    with (root / "annotations" / "train.ndjson").open("a") as file:
        file.write(json.dumps({"document": "d2", "statement": ["nfl:g2", "gameWinner", "nfl:Atlanta"]}) + "\n")
    assert make_task(made, TaskSpec("train")).id != same.id


def test_a_phase_keeps_what_is_in_its_scope(root):
    names = {phase: {q.id for q in make_task(package(root), TaskSpec("train", phase=phase)).queries} for phase in "12"}
    assert names["2"] - names["1"] >= {"points"}
    assert names["1"] < names["2"]


def test_a_part_that_is_not_here_cannot_be_read(root):
    for path in (root / "corpus" / "test").iterdir():
        path.unlink()
    (root / "corpus" / "test").rmdir()
    with pytest.raises(SettingError, match="sealed"):
        make_task(package(root), TaskSpec("test"))
    with pytest.raises(SettingError, match="no part 'dev'"):
        make_task(package(root), TaskSpec("dev"))


def test_annotations_are_written_as_they_are_read(root, tmp_path):
    made = package(root)
    documents = made.documents("train")
    line = (root / "annotations" / "train.ndjson").read_text(encoding="utf-8").splitlines()[1]
    path = tmp_path / "many.ndjson"
    path.write_text((line + "\n") * 2000, encoding="utf-8")
    rows = read_annotations(path, made.manifest.prefixes, documents, LineFaults("x", "R-8", Findings()))
    tracemalloc.start()
    with (tmp_path / "out.ttl").open("wb") as out:
        write_rdf((row for said in rows for row in assertion_rows(said.assertion)), out, "turtle")
        written, peak = out.tell(), tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < written / 6


def test_the_command_writes_a_task_and_never_over_a_file(root):
    words = ("reading", "generate", root, "--part", "train", "--types", "class, property", "--class", "NFLGame")
    ended = here(*words, "--sample", "2", "--seed", "3", "--out", "task.ttl", "--json", cwd=root)
    assert (ended.code, ended.data["queries"], ended.data["documents"]) == (0, 2, 2)
    assert ended.data["task"] in (root / "task.ttl").read_text()
    again = here(*words, "--out", "task.ttl", cwd=root)
    assert (again.code, "already exists" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--part", "dev"), "no part 'dev'"),
        (("--part", "train", "--phase", "9"), "no phase '9'"),
        (("--part", "train", "--class", "Game"), "no class 'Game'"),
    ],
)
def test_a_choice_that_cannot_be_made_is_misuse_and_writes_nothing(words, told, root):
    ended = here("reading", "generate", root, *words, "--out", "task.ttl", cwd=root)
    assert (ended.code, told in ended.stderr, (root / "task.ttl").exists()) == (2, True, False)


def test_an_invalid_package_makes_no_task(root):
    (root / "guidelines.md").unlink()
    ended = here("reading", "generate", root, "--part", "train", "--out", "task.ttl", cwd=root)
    assert (ended.code, (root / "task.ttl").exists()) == (1, False)


@pytest.mark.req("R-8")
@pytest.mark.parametrize("name", ["turtle", "rdfxml", "jsonld", "nquads"])
def test_annotations_are_exported_in_each_format(name, root):
    words = ("reading", "export", root, "--part", "train", "--format", name, "--out", "out", "--json")
    assert here(*words, cwd=root).data["count"] == 10
    assert (root / "out").stat().st_size > 1000


@pytest.mark.req("R-26")
def test_pairs_of_assertion_and_text_are_exported(root):
    assert here("reading", "export", root, "--what", "pairs", "--part", "train", "--out", "pairs", cwd=root).code == 0
    pairs = [json.loads(line) for line in (root / "pairs").read_text(encoding="utf-8").splitlines()]
    (periods,) = [pair for pair in pairs if pair["statement"][1] == "nfl:numberOfPeriods"]
    assert periods["text"] == "It took five periods – naïve fans left early."
    assert periods["pieces"] == {"object": "five periods"}
    assert len(pairs) == 6
    (points,) = [pair for pair in pairs if pair["statement"][1] == "nfl:pointsScored"]
    assert points["statement"][0] == "_:s"


@pytest.mark.parametrize("what", ["ontology", "shacl", "sparql"])
def test_other_exports_are_the_same_bytes_each_time(what, root):
    for name in ("a.ttl", "b.ttl"):
        assert here("reading", "export", root, "--what", what, "--out", name, cwd=root).code == 0
    assert (root / "a.ttl").read_bytes() == (root / "b.ttl").read_bytes()


def test_an_export_that_needs_a_part_says_so(root):
    ended = here("reading", "export", root, "--out", "x.ttl", cwd=root)
    assert (ended.code, "--part train" in ended.stderr) == (2, True)
