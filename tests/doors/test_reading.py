"""Passages, reading packages, rules and queries, as their commands prepare, check and answer them."""

import csv
import hashlib
import json
import random
import shutil
import tarfile
from collections import Counter
from math import ceil, floor

import pytest
import rdflib
from tests.cli.running import JUDGING, READING, here
from tests.reading.packages import BEHIND, NAMESPACE, NFL, TEXTS, small_package
from tests.reading.test_package import RECORDS, annotated, replaced
from tests.reading.test_queries import FAULTS
from tests.reading.test_rules import OVERTIME, OVERTIME_YAML
from tests.work.test_passages import MARKED, PLAIN

TASK = rdflib.Namespace("urn:basanite:reading:")
NFL_NAMES = rdflib.Namespace(NAMESPACE)


# --- passages ---


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def in_balance(whole, part, fact, share):
    """Whether every level has its share of the part, rounded down or up."""
    counts = Counter(row[fact] for row in part)
    return all(
        floor(times * share - 1e-9) <= counts[level] <= ceil(times * share + 1e-9)
        for level, times in Counter(row[fact] for row in whole).items()
    )


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """A pool of four genres and three topics, and passages that are not fit."""
    folder, rng = tmp_path_factory.mktemp("pool"), random.Random(0)
    sizes = {("newswire", "a"): 20, ("newswire", "b"): 13, ("weblog", "a"): 9, ("weblog", "c"): 22}
    sizes |= {("forum", "b"): 25, ("mt", "c"): 30}
    rows = []
    for (genre, topic), size in sizes.items():
        for _ in range(size):
            text = " ".join(
                rng.choice(("rain", "town", "boat", "walks", "slowly")) + rng.choice("xyz") for _ in range(60)
            )
            rows.append((f"p{len(rows):03}", genre, topic, text + "."))
    rows += [("short", "mt", "c", "Too short."), ("twin", "forum", "b", rows[-1][3])]
    rows.append(("numbers", "mt", "c", "12 13 14 | " * 40 + "a b c d e f g " * 5))
    with (folder / "pool.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("passage", "genre", "topic", "text"), *rows])
    words = ("--per-genre", "20", "--test", "0.5", "--seed", "3")
    ended = here("judge", "prepare", "pool.csv", "--out", "prepared", *words, cwd=folder)
    assert ended.code == 0, ended.stderr
    return folder, table(folder / "prepared" / "passages.csv")


@pytest.mark.req("R-1")
def test_a_prepared_set_has_the_wanted_number_of_each_genre_in_balanced_rounds_of_ten(pool):
    folder, passages = pool
    assert Counter(row["genre"] for row in passages) == {"newswire": 20, "weblog": 20, "forum": 20, "mt": 20}
    splits = {name: [row for row in passages if row["split"] == name] for name in ("train", "test")}
    assert {name: len(rows) for name, rows in splits.items()} == {"train": 40, "test": 40}
    assert set(Counter(row["round"] for row in passages).values()) == {10}
    for rows in splits.values():
        for fact in ("genre", "topic"):
            assert in_balance(passages, rows, fact, 1 / 2)
            for name in {row["round"] for row in rows}:
                assert in_balance(rows, [row for row in rows if row["round"] == name], fact, 1 / 4)
    dropped = {row["passage"]: (row["step"], row["reason"]) for row in table(folder / "prepared" / "dropped.csv")}
    assert dropped["short"] == ("vetting", "2 words, fewer than 30")
    assert dropped["twin"][1].startswith("the same text as")
    assert "letters" in dropped["numbers"][1]
    everything = {row["passage"] for row in table(folder / "pool.csv")}
    assert {row["passage"] for row in passages} | set(dropped) == everything  # nothing is lost without a word


@pytest.mark.req("R-1")
def test_the_marks_of_each_genre_are_removed_and_logged(tmp_path):
    with (tmp_path / "pool.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(("passage", "genre", "topic", "text"))
        for at, (genre, (text, _)) in enumerate(MARKED.items()):
            more = f" The {'abcdefg'[at] * 3} rose by the hour, and boats were tied to lamps in every old street." * 3
            longer = more.upper() if genre == "captions" else more
            last = "out." if "out." in text else "OUT."
            lines.writerow((genre, genre, "x", text.replace(last, last + longer)))
    ended = here("judge", "prepare", "pool.csv", "--out", "prepared", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    texts = {row["passage"]: row["text"] for row in table(tmp_path / "prepared" / "passages.csv")}
    removed = table(tmp_path / "prepared" / "removed.csv")
    for genre, (_, marks) in MARKED.items():
        found = {row["mark"] for row in removed if row["passage"] == genre}
        assert found >= marks, genre
        assert PLAIN.lower() in texts[genre].lower(), genre
        for mark in ("(AFN)", "http://", "wrote:", "[[", "{{", "-->", "@@", "<unk>", "ANCHOR:"):
            assert mark not in texts[genre], (genre, mark)


@pytest.mark.req("R-1")
def test_each_judge_has_an_order_of_the_own_within_and_across_rounds(pool):
    folder, passages = pool
    words = ("--items", "prepared/passages.csv", "--judges", "expert=3", "--judges", "novice=8", "--out", "plan.csv")
    ended = here("judge", "plan", JUDGING / "schemes" / "readability.toml", *words, cwd=folder)
    assert ended.code == 0, ended.stderr
    with (folder / "plan.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    passage = head.index("passage")
    of_passage = {row["passage"]: row["round"] for row in passages}
    orders = {}
    for row in rows:
        orders.setdefault(row[0], {}).setdefault(row[1], []).append(row[passage])
    assert len(orders) == 11
    across, within = set(), set()
    for rounds in orders.values():
        for shown in rounds.values():
            assert len(shown) == 10
            assert len({of_passage[name] for name in shown}) == 1  # the ten that are ranked belong together
        assert Counter(name for shown in rounds.values() for name in shown) == Counter(of_passage.keys())
        across.add(tuple(of_passage[shown[0]] for shown in rounds.values()))
        within.add(tuple(next(shown for shown in rounds.values() if of_passage[shown[0]] == "train-01")))
    assert len(across) > 8
    assert len(within) == 11


# --- packages ---


@pytest.fixture
def root(tmp_path):
    return small_package(tmp_path / "small")


def checked(root):
    ended = here("reading", "check", root, "--all", "--json", cwd=root.parent)
    assert ended.code == (0 if ended.data["valid"] else 1)
    return ended.data


@pytest.mark.req("R-7", case="good")
def test_one_command_checks_a_whole_package(root):
    for package, documents in ((root, {"train": 2, "test": 1}), (READING / "nfl", {"train": 40, "test": 26})):
        found = checked(package)
        assert found["valid"]
        assert [problem for problem in found["problems"] if problem["severity"] == "reject"] == []
        assert found["contents"]["documents"] == documents
        assert found["contents"]["classes"] == 10
    shutil.rmtree(root / "corpus" / "test")
    for name in ("corpus/test.sha256", "annotations/test.ndjson"):
        (root / name).unlink()
    lines = (root / "gold" / "v1.ndjson").read_text().splitlines()
    (root / "gold" / "v1.ndjson").write_text(lines[0] + "\n")
    assert checked(root)["valid"]  # a copy without its sealed part is in order, too


@pytest.mark.req("R-7", case="bad")
@pytest.mark.parametrize("case", RECORDS)
def test_a_mistake_in_the_annotations_is_told_with_its_line(case, root):
    change, rule, words = RECORDS[case]
    annotated(root, {"document": "d2", "statement": ["nfl:g9", "type", "nfl:NFLGame"], **change})
    (problem,) = (one for one in checked(root)["problems"] if one["severity"] == "reject")
    assert (problem["rule"], problem["file"]) == (rule, "annotations/train.ndjson")
    assert problem["line"] == (10 if case == "too many" else 11)
    assert words in problem["message"]
    assert problem["fix"]


@pytest.mark.req("R-7", case="bad")
def test_a_mistake_in_any_other_part_is_told_with_its_file(root):
    def spoil(name, change):
        folder = root.parent / f"spoiled-{name.replace('/', '-')}"
        shutil.copytree(root, folder)
        change(folder / name)
        found = checked(folder)
        assert not found["valid"], name
        assert name in {problem["file"] for problem in found["problems"] if problem["severity"] == "reject"}, found

    spoil("ontology.ttl", lambda path: replaced(path, "rdfs:range", "rdfs:rnge ;; rdfs:range"))
    spoil("package.toml", lambda path: replaced(path, "licence", "license"))
    spoil("queries/queries.yaml", lambda path: replaced(path, "numberOfPeriods", "numberOfPeriod"))
    spoil("rules/scoring.rules", lambda path: path.write_text(path.read_text() + "\n(rule r :if (?x p))"))
    spoil("corpus/train/d1.txt", lambda path: path.write_text("changed\n"))
    spoil("gold/v1.ndjson", lambda path: replaced(path, '"explicit"', '"sure"'))
    spoil("guidelines.md", lambda path: path.unlink())


def unpacked(path):
    with tarfile.open(path) as archive:
        return {member.name.partition("/")[2]: archive.extractfile(member).read() for member in archive}


@pytest.mark.req("R-28")
def test_a_release_has_licence_citation_and_checksums_and_nothing_of_sealed_parts(root, tmp_path):
    (root / "queries" / "test.yaml").write_text(
        'format: basanite-queries/1\nqueries:\n  - query: secret\n    find: ["?G gameWinner ?T"]\n'
    )
    secret = {"query": "secret", "document": "d1", "answer": {"?G": ["g"], "?T": ["t"]}, "kind": "explicit", **BEHIND}
    with (root / "gold" / "v1.ndjson").open("a") as file:
        file.write(json.dumps(secret) + "\n")
    ended = here("reading", "release", "small", "--out", "b.tgz", "--json", cwd=tmp_path)
    assert (ended.code, ended.data["answers_left_out"]) == (0, 2)
    files = unpacked(tmp_path / "b.tgz")
    assert b"CC0-1.0" in files["LICENCE.txt"]
    assert files["CITATION.txt"] == b"Nobody: A small package.\n"
    everything = b"\n".join(files.values())
    assert not [name for name in files if "test" in name or "d3" in name]
    for word in (TEXTS["test/d3"].strip().encode(), b"secret", b'"d3"'):
        assert word not in everything
    sums = dict(reversed(line.split("  ")) for line in files.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    with tarfile.open(tmp_path / "b.tgz") as archive:
        archive.extractall(tmp_path, filter="data")
    assert checked(tmp_path / "small-0.1")["problems"] == []


# --- rules ---


def inferred(folder, rules, statements, *words):
    ended = here("reading", "infer", *rules, "--statements", statements, *words, "--json", cwd=folder)
    assert ended.code in (0, 1), ended.stderr
    return ended


@pytest.mark.req("R-10")
def test_both_ways_of_writing_mean_the_same(tmp_path):
    (tmp_path / "one.rules").write_text(OVERTIME)
    (tmp_path / "one.yaml").write_text(OVERTIME_YAML)
    (tmp_path / "said.ndjson").write_text('["Game-1", "hasOvertimePlay", "true"]\n["Game-2", "numberOfPeriods", "4"]\n')
    first, second = (inferred(tmp_path, [name], "said.ndjson") for name in ("one.rules", "one.yaml"))
    assert first.stdout == second.stdout
    words = ("--statements", "said.ndjson", "--query", "(?G numberOfPeriods ?N)", "--json")
    first, second = (here("reading", "answer", name, *words, cwd=tmp_path) for name in ("one.rules", "one.yaml"))
    assert first.stdout == second.stdout
    assert {answer["answer"]["?N"]: answer.get("probability") for answer in first.data["answers"]}["5"] == 0.97
    folder = NFL / "rules"
    for document in ("nfl-001", "nfl-007", "nfl-020"):
        words = (NFL / "annotations" / "train.ndjson", "--document", document, "--ontology", NFL / "ontology.ttl")
        ways = [
            inferred(tmp_path, [file], *words)
            for file in (folder / "scoring.rules", folder / "as-yaml" / "scoring.yaml")
        ]
        assert ways[0].stdout == ways[1].stdout
    (tmp_path / "more.yaml").write_text("- rule: long\n  if: ['?g numberOfPeriods 5']\n  then: ['?g isLong true']\n")
    both = inferred(tmp_path, ["one.rules", "more.yaml"], "said.ndjson").data["derived"]
    assert ["Game-1", "isLong", "true"] in both  # files of both kinds are one theory


@pytest.mark.req("R-10")
@pytest.mark.parametrize(
    ("name", "text", "line", "says"),
    [
        ("x.rules", "(rule r :if (?x p)\n :then (?x q 1))", 1, "rule r: a triple has three terms"),
        ("x.rules", "(rule r :if (?x p ?y)\n :then\n (?x q bad:name))", 3, "rule r: the prefix 'bad' is not known"),
        ("x.rules", "(rule r :if (?x p ?y)\n :unless (?x q 1)\n :then (?x r 1))", 2, "rule r: :unless is not part"),
        ("x.rules", "(rule r :if (?x p ?y) :then (?x q 1) :probability 1.5)", 1, "rule r: the probability '1.5'"),
        ("x.rules", "\n\n(rul r :if (?x p ?y) :then (?x q 1))", 3, "'rul' begins no form"),
        ("x.rules", "(rule r :if (?x p ?y)\n :then (?x q ?z))", 2, "rule r"),
        ("x.yaml", "- rule: r\n  if: [?g p true]\n  then: ['?g q 1']", 2, "rule r: `if` holds something that is no"),
        ("x.yaml", "- rule: r\n  if: ['?g p']\n  then: ['?g q 1']", 2, "rule r: a triple has three terms"),
        ("x.yaml", "- rule: r\n  if: ['?g p 1']\n  than: ['?g q 1']", 3, "rule r: `than` is not part of a rule"),
        ("x.yaml", "- rule: r\n  if: &a ['?g p 1']\n  then: *a", 2, "anchor"),
        ("x.yaml", "- !!python/object:os.system x", 1, "tag"),
    ],
)
def test_faults_of_rules_name_file_line_and_rule(name, text, line, says, tmp_path):
    (tmp_path / name).write_text(text)
    (tmp_path / "said.ndjson").write_text('["a", "p", "1"]\n')
    ended = here("reading", "infer", name, "--statements", "said.ndjson", "--json", cwd=tmp_path)
    assert ended.code == 1
    found = [problem for problem in ended.data["problems"] if says in problem["message"]]
    assert [(problem["file"], problem["line"]) for problem in found] == [(name, line)], ended.data["problems"]
    assert found[0]["fix"]


# --- queries ---


def task_of(root, name, *words):
    """The queries of a generated task by name, and its graph as another program reads it."""
    ended = here("reading", "generate", root, "--part", "train", "--out", f"{name}.nt", *words, cwd=root.parent)
    assert ended.code == 0, ended.stderr
    graph = rdflib.Graph().parse(root.parent / f"{name}.nt")
    return graph, {str(graph.value(query, TASK.name)): query for query in graph.objects(None, TASK.query)}


@pytest.mark.req("R-12")
def test_every_class_and_property_of_the_ontology_is_asked_about_in_words(root):
    graph, queries = task_of(root, "all", "--source", "generated", "--unanswered")
    ontology = rdflib.Graph().parse(root / "ontology.ttl")
    own = {str(iri).removeprefix(NAMESPACE): iri for iri in ontology.subjects() if str(iri).startswith(NAMESPACE)}
    kinds = (rdflib.OWL.DatatypeProperty, rdflib.OWL.ObjectProperty)
    marked = {name for name, iri in own.items() if (iri, TASK.mark, TASK.queryOnly) not in ontology}
    classes = {name for name, iri in own.items() if (iri, rdflib.RDF.type, rdflib.OWL.Class) in ontology}
    properties = {name for name, iri in own.items() if any((iri, rdflib.RDF.type, kind) in ontology for kind in kinds)}
    assert {name for name in queries if name.startswith("class/")} == {f"class/{name}" for name in classes}
    assert {name for name in queries if name.startswith("property/")} == {f"property/{n}" for n in properties & marked}
    assert "chain/teamFinalScoreInGame/pointsScored" in queries
    assert "chain/gameDate/gameWinner" not in queries  # a date has no winner
    words = {name: str(graph.value(query, TASK.question)) for name, query in queries.items()}
    assert words["class/NFLGame"] == "Which games are mentioned?"
    assert words["property/numberOfPeriods"] == "How many periods were played in each game mentioned?"
    assert words["fork/gameLoser/gameWinner"] == "For each game mentioned, what are its loser and its winner?"
    assert all(words.values())


@pytest.mark.req("R-12")
def test_queries_that_have_answers_in_the_text_are_kept_and_no_others(root):
    graph, everything = task_of(root, "all", "--source", "generated", "--unanswered")
    _, kept = task_of(root, "kept", "--source", "generated")
    ontology = rdflib.Graph().parse(root / "ontology.ttl")
    answered = set()
    for document in ("d1", "d2"):
        said = rdflib.Graph()
        for line in (root / "annotations" / "train.ndjson").read_text().splitlines():
            record = json.loads(line)
            if record["document"] == document:
                said.add(tuple(map(term, record["statement"])))
        for thing, kind in list(said.subject_objects(rdflib.RDF.type)):
            for above in ontology.transitive_objects(kind, rdflib.RDFS.subClassOf):
                said.add((thing, rdflib.RDF.type, above))
        answered |= {
            name for name, query in everything.items() if list(said.query(str(graph.value(query, TASK.sparql))))
        }
    assert answered
    assert set(kept) >= answered
    assert {name for name in set(kept) - answered if not name.startswith("class/")} == set()
    assert "property/gameDate" not in kept


def term(text):
    """A term as the package writes it, for another program."""
    if text in ("type", "a"):
        return rdflib.RDF.type
    if text in ("true", "false") or text.isdecimal():
        return rdflib.Literal(text == "true" if text.isalpha() else int(text))
    return rdflib.BNode(text[2:]) if text.startswith("_:") else NFL_NAMES[text.removeprefix("nfl:")]


@pytest.mark.req("R-12")
def test_answers_are_those_of_sparql_on_another_engine(tmp_path):
    rng = random.Random(5)
    (tmp_path / "none.rules").write_text("(rule none :if (?x neverSaid 1) :then (?x neverSaid 2))")
    found = 0
    for _ in range(12):
        things, names = [f"urn:t:{n}" for n in range(3)], [f"urn:p:{n}" for n in range(3)]
        said = {
            (rng.choice(things), rng.choice(names), rng.choice([*things, "0", "1", "2"]))
            for _ in range(rng.randint(5, 20))
        }
        lines = [json.dumps([f"<{s}>", f"<{p}>", o if o.isdecimal() else f"<{o}>"]) for s, p, o in sorted(said)]
        (tmp_path / "said.ndjson").write_text("\n".join(lines) + "\n")
        first, second = rng.choice(names), rng.choice(names)
        query = (
            f"(?a <{first}> ?b) (?b <{second}> ?c)" if rng.random() < 0.5 else f"(?a <{first}> ?b) (?a <{second}> ?c)"
        )
        ended = inferred(tmp_path, ["none.rules"], "said.ndjson", "--query", query)
        graph = rdflib.Graph()
        for s, p, o in said:
            value = rdflib.Literal(int(o)) if o.isdecimal() else rdflib.URIRef(o)
            graph.add((rdflib.URIRef(s), rdflib.URIRef(p), value))
        body = query.replace("(", "").replace(")", " . ")
        wanted = {tuple(map(str, row)) for row in graph.query(f"SELECT DISTINCT ?a ?b ?c WHERE {{ {body} }}")}
        ours = {tuple(answer[name].strip("<>") for name in ("?a", "?b", "?c")) for answer in ended.data["answers"]}
        assert ours == wanted, query
        found += len(wanted)
    assert found > 10


@pytest.mark.req("R-12")
def test_queries_are_chosen_by_type_and_class_and_sampled_by_seed(root):
    _, properties = task_of(
        root, "p", "--source", "generated", "--unanswered", "--types", "property", "--class", "NFLTeam"
    )
    assert properties
    assert all(name.startswith("property/team") for name in properties)
    first, again, other = (
        sorted(task_of(root, f"s{at}", "--source", "generated", "--unanswered", "--sample", "10", "--seed", seed)[1])
        for at, seed in enumerate("112")
    )
    assert first == again != other
    assert len(first) == 10


@pytest.mark.req("R-12", case="bad")
@pytest.mark.parametrize("text", FAULTS, ids=[f"{words}{at}" for at, (_, words) in enumerate(FAULTS.values())])
def test_a_faulty_file_of_queries_is_told_with_its_line(text, root):
    (root / "queries" / "queries.yaml").write_text(text)
    line, words = FAULTS[text]
    found = [problem for problem in checked(root)["problems"] if words in problem["message"]]
    assert [(problem["file"], problem["line"]) for problem in found] == [("queries/queries.yaml", line)]
