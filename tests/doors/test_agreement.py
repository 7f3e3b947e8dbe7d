"""How far judges agree, and what an answer is worth, as the commands print it: against peers and by trying all ways."""

import itertools
import json
import re
import shutil

import krippendorff
import numpy as np
import pytest
from tests.cli.running import ROOT, here

TOY = ROOT / "tests" / "golden" / "reading" / "by-hand" / "reference"


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    """30 items rated by 4 judges with some gaps, 5 being rare: the table, and the folder with its file."""
    folder, rng = tmp_path_factory.mktemp("votes"), np.random.default_rng(3)
    truth = rng.integers(1, 5, 30)
    table = np.clip(truth[:, None] + np.round(rng.normal(0, 0.6, (30, 4))), 1, 4)
    table[rng.random(table.shape) < 0.15] = np.nan
    table[0, :2] = 5, 4
    lines = [
        f"p{item:02},j{judge},{table[item, judge]:g}"
        for item, judge in itertools.product(range(30), range(4))
        if not np.isnan(table[item, judge])
    ]
    (folder / "votes.csv").write_text("\n".join(["item,judge,rating", *lines]) + "\n")
    return table, folder


FEW_DRAWS = ("--draws", "20")
"""Where values are looked at, and not how wide their intervals are."""


def figures(folder, *words):
    ended = here("judge", "agreement", "votes.csv", "--draws", "400", *words, "--json", cwd=folder)
    assert ended.code == 0, ended.stderr
    return ended.data["groups"][""]["figures"]


def one_way(table):
    """ICC(1) and ICC(1,k) by an analysis of variance with gaps (Shrout and Fleiss 1979, McGraw and Wong 1996)."""
    rows = [row[~np.isnan(row)] for row in table]
    rows = [row for row in rows if len(row) > 1]
    every = np.concatenate(rows)
    between = sum(len(row) * (row.mean() - every.mean()) ** 2 for row in rows) / (len(rows) - 1)
    within = sum(((row - row.mean()) ** 2).sum() for row in rows) / (len(every) - len(rows))
    size = (len(every) - sum(len(row) ** 2 for row in rows) / len(every)) / (len(rows) - 1)
    return (between - within) / (between + (size - 1) * within), 1 - within / between


@pytest.mark.req("S-20")
def test_the_reliability_of_the_mean_stands_beside_alpha(votes):
    table, folder = votes
    found = figures(folder)
    for level in ("nominal", "ordinal", "interval"):
        wanted = krippendorff.alpha(table.T, level_of_measurement=level)
        assert found[f"alpha_{level}"]["value"] == pytest.approx(wanted, rel=1e-9)
        assert found[f"alpha_{level}"]["low"] < wanted < found[f"alpha_{level}"]["high"]
    single, mean = one_way(table)
    assert found["icc_1"]["value"] == pytest.approx(single, rel=1e-6)
    assert found["icc_1_k"]["value"] == pytest.approx(mean, rel=1e-6)
    assert found["icc_1_k"]["low"] < mean < found["icc_1_k"]["high"]


@pytest.mark.req("S-20")
def test_intervals_of_agreement_draw_items(votes):
    table, folder = votes
    found = figures(folder, "--scale", "interval", "--draws", "4000")["alpha_interval"]
    rng = np.random.default_rng(0)
    drawn = [krippendorff.alpha(table[rng.integers(0, 30, 30)].T, level_of_measurement="interval") for _ in range(1500)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (found["low"], found["high"]) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))


@pytest.mark.req("S-20")
def test_unanimous_judges_are_undefined_with_the_reason(tmp_path):
    rows = [f"p{item},{judge},yes" for item in range(20) for judge in "ab"]
    (tmp_path / "votes.csv").write_text("\n".join(["item,judge,rating", *rows]) + "\n")
    alpha = figures(tmp_path)["alpha_nominal"]
    assert alpha["value"] is None
    assert alpha["reason"] == "all ratings are the same, so there is nothing to agree about"


@pytest.mark.req("S-20")
def test_a_rare_rating_has_an_agreement_of_its_own_in_the_report(votes, tmp_path):
    table, _ = votes
    lines = ["passage,judge,panel,rating"]
    for item, judge in itertools.product(range(30), range(4)):
        if not np.isnan(table[item, judge]):
            lines.append(f"p{item:02},e{judge},expert,{table[item, judge]:g}")
        lines.append(f"p{item:02},n{judge},novice,{1 + (item + judge) % 5}")
    (tmp_path / "panels.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "machine.csv").write_text(
        "\n".join(["passage,rating", *(f"p{at:02},{1 + at % 5}" for at in range(30))])
    )
    words = ("--reference", "panels.csv", "--submission", "machine.csv", "--draws", "50", "--report", "out.html")
    assert here("score", "readability", *words, cwd=tmp_path).code == 0
    page = (tmp_path / "out.html").read_text()
    body = page[page.index("Agreement on single ratings") :].split("<tbody>")[1].split("</tbody>")[0]
    cells = [re.findall(r">([^<>]+)<", row) for row in body.split("</tr>") if "expert" in row]
    shown = {float(row[1]): row[2] for row in ([cell for cell in cells_ if cell.strip()] for cells_ in cells)}
    for value in (1, 2, 3, 4, 5):
        alike = total = 0.0
        for row in table:
            given = row[~np.isnan(row)]
            own = (given == value).sum()
            if own and len(given) > 1:
                alike, total = alike + own * (own - 1) / (len(given) - 1), total + own
        assert float(shown[value]) == pytest.approx(alike / total, abs=6e-5), value
    assert float(shown[5]) == 0.0  # one judge alone gave it: alpha over all ratings hides that


# --- what an answer is worth ---


def share(answer, gold):
    return len(answer & gold) / len(answer)


def dice(answer, gold):
    return 2 * len(answer & gold) / (len(answer) + len(gold))


def best_credit(answers, gold, rule):
    """The most credit of any one-to-one matching, by trying all of them."""

    def worth(answer, wanted):
        if any(len(answer & other) > len(answer & wanted) for other in gold):
            return 0.0
        value = rule(answer, wanted)
        return value if value >= 0.5 - 1e-9 else 0.0

    few, many = sorted((answers, gold), key=len)
    table = [[worth(one, two) if few is answers else worth(two, one) for two in many] for one in few]
    return max(
        sum(table[row][column] for row, column in enumerate(chosen))
        for chosen in itertools.permutations(range(len(many)), len(few))
    )


def package(folder, gold):
    """A copy of the small package whose gold names the winners of each text."""
    shutil.copytree(TOY, folder / "package")
    lines = [
        {"query": "winners", "document": document, "answer": {"?T": sorted(names)}, "kind": "explicit"}
        for document, entities in gold.items()
        for names in entities
    ]
    (folder / "package" / "gold" / "v1.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))


def scored(folder, answers, *words):
    lines = [
        {"query": "winners", "document": document, "answer": {"?T": sorted(names)}, "kind": "explicit"}
        for document, entities in answers.items()
        for names in entities
    ]
    (folder / "given.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ("--reference", "package", "--submission", "given.ndjson", "--draws", "20", *words)
    ended = here("score", "reading", *words, "--json", cwd=folder)
    assert ended.code == 0, ended.stderr
    return ended.data["values"]


def drawn(rng, most):
    """Some different sets of names; a set is what an entity is called."""
    names = np.array(["Jets", "NYJ", "Bears", "Lions", "the club", "they"])
    found = {frozenset(rng.choice(names, rng.integers(1, 5), replace=False)) for _ in range(rng.integers(1, most + 1))}
    return sorted(found, key=sorted)


@pytest.mark.req("R-20", "S-4")
@pytest.mark.parametrize(("setting", "rule"), [("share", share), ("dice", dice)], ids=["share", "dice"])
def test_credit_is_that_of_the_best_matching_inside_each_document(setting, rule, tmp_path):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        gold, given = ({document: drawn(rng, 4) for document in "abc"} for _ in range(2))
        folder = tmp_path / str(seed)
        folder.mkdir()
        package(folder, gold)
        found = scored(folder, given, "--set", f"credit={setting}")
        credit = sum(best_credit(given[document], gold[document], rule) for document in "abc")
        answers, wanted = (sum(map(len, side.values())) for side in (given, gold))
        assert found["precision"]["value"] == pytest.approx(credit / answers, rel=1e-8), seed
        assert found["recall"]["value"] == pytest.approx(credit / wanted, rel=1e-8), seed
        turned = {document: given[document][::-1] for document in "cba"}
        assert scored(folder, turned, "--set", f"credit={setting}") == found  # no tie is settled by the order of lines


@pytest.mark.req("S-4")
def test_missing_aliases_cost_nothing_and_names_of_others_do(tmp_path):
    jets, giants = frozenset({"Jets", "New York Jets", "NYJ"}), frozenset({"Giants", "New York Giants"})
    package(tmp_path, {"a": [jets, giants]})
    for names, credit in (
        ({"Jets"}, 1.0),
        ({"Jets", "NYJ", "Giants"}, 2 / 3),
        ({"Jets", "Giants", "New York Giants"}, 2 / 3),  # it is the Giants: they hold more of it
        ({"Jets", "the team", "they"}, 0.0),  # a third is less than a half
    ):
        found = scored(tmp_path, {"a": [frozenset(names)]})
        assert found["precision"]["value"] == pytest.approx(credit, rel=1e-8), names
        assert found["recall"]["value"] == pytest.approx(credit / 2, rel=1e-8)
    aliases = scored(tmp_path, {"a": [frozenset({"Jets"})]}, "--set", "credit=dice")
    assert aliases["precision"]["value"] == pytest.approx(0.5)


def lines_of(table, sign=",", missing="NA"):
    return [sign.join(missing if np.isnan(cell) else f"{cell:g}" for cell in row) for row in table]


MATRICES = {
    "commas": (",", "", "columns"),
    "tabs": ("\t", "NA", "columns"),
    "white space": (" ", "*", "rows"),
    "semicolons": (";", "nan", "rows"),
}


@pytest.mark.req("T-25", "D-6")
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("layout", MATRICES)
def test_a_plain_matrix_says_the_same_as_a_long_table(votes, tmp_path, layout, named):
    table, folder = votes
    wanted = figures(folder, *FEW_DRAWS)
    sign, missing, judges = MATRICES[layout]
    lines = lines_of(table if judges == "columns" else table.T, sign, missing)
    if named:
        inside = [f"{name}{sign}{line}" for name, line in zip((f"n{at}" for at in range(99)), lines, strict=False)]
        heads = sign.join(["id", *(f"c{at}" for at in range(lines[0].count(sign) + 1))])
        lines = [heads, *inside]
    (tmp_path / "matrix.txt").write_text("\n".join(lines) + "\n")
    ended = here("judge", "agreement", "matrix.txt", "--matrix", judges, *FEW_DRAWS, "--json", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    found = ended.data["groups"][""]["figures"]
    assert {name: one["value"] for name, one in found.items()} == pytest.approx(
        {name: one["value"] for name, one in wanted.items()}, nan_ok=True
    )
    assert found["alpha_interval"]["value"] == pytest.approx(krippendorff.alpha(table.T), rel=1e-9)


@pytest.mark.req("T-25")
@pytest.mark.parametrize("heads", ["annotator,unit,grade", "rater,id,score", "coder,subject,label"])
def test_a_long_table_is_read_under_usual_names_of_its_columns(votes, tmp_path, heads):
    _, folder = votes
    rows = [line.split(",") for line in (folder / "votes.csv").read_text().split()[1:]]
    (tmp_path / "votes.csv").write_text("\n".join([heads, *(f"{judge},{item},{value}" for item, judge, value in rows)]))
    assert figures(tmp_path, *FEW_DRAWS) == figures(folder, *FEW_DRAWS)


AMBIGUOUS = {
    "which way a matrix lies": ("1,2,3\n2,2,1\n", (), "--matrix columns"),
    "two values": ("judge,item,rating,score\na,1,2,3\n", (), "'rating' and 'score' could be meant"),
    "two judges": ("judge,rater,item,score\na,b,1,2\n", (), "'judge' and 'rater' could be meant"),
    "a header of words": ("item,r1,r2\n1,yes,no\n2,no,no\n", ("--matrix", "columns"), "may be a header"),
    "lines that differ": ("1,2\n1,2,3\n", ("--matrix", "rows"), "3 cells, and 2 in the first line"),
    "one judge": ("1,2,3\n", ("--matrix", "rows"), "agreement needs two [S-20]"),
    "nothing": ("\n", ("--matrix", "rows"), "the file is empty"),
    "a name twice": ("a,a\n1,2\n2,2\n", ("--matrix", "columns"), "the name 'a' appears twice"),
    "both layouts": ("1,2\n2,2\n", ("--matrix", "columns", "--item", "x"), "--matrix goes without --item"),
    "a header without a matrix": ("judge,item,score\na,1,2\n", ("--no-header",), "go with --matrix"),
    "bytes": ("\0\0\0", ("--matrix", "columns"), "line of text"),
}


@pytest.mark.req("T-25", "D-4")
@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ratings_that_can_be_read_in_two_ways_are_refused(tmp_path, name):
    text, words, told = AMBIGUOUS[name]
    (tmp_path / "votes.csv").write_text(text)
    ended = here("judge", "agreement", "votes.csv", "--draws", "10", *words, cwd=tmp_path)
    assert ended.code in (1, 2)
    assert told in " ".join(ended.stderr.split())


@pytest.mark.req("T-25")
def test_words_have_a_header_if_that_is_said(tmp_path):
    (tmp_path / "votes.csv").write_text("item,r1,r2\n1,yes,no\n2,no,no\n3,yes,yes\n")
    for option, judges, items in (("--header", 2, 3), ("--no-header", 3, 4)):
        given = ("votes.csv", "--matrix", "columns", option, "--draws", "10", "--json")
        group = here("judge", "agreement", *given, cwd=tmp_path).data["groups"][""]
        assert (group["judges"], group["items"]) == (judges, items)
