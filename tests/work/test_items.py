"""Items: what looks the same is judged once, instructions are harmless, ids tell nothing."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.work.making import new_ids

from basanite.work.items import Block, instruction_blocks, item_of, without_duplicates

ALLOWED = {"b", "i", "ul", "li", "font", "br"}


class Tags(HTMLParser):
    """Every tag and attribute of a page, as a browser would find them."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def tags_of(page):
    found = Tags()
    found.feed(page)
    return found


def test_items_that_look_the_same_become_one_that_counts_for_all():
    ids = new_ids()
    made = [
        item_of([Block("query", "q"), Block("image", digest)], {"system": system}, new_id=ids.__next__)
        for digest, system in (("d1", "A"), ("d2", "A"), ("d1", "B"), ("d1", "C"))
    ]
    joined = without_duplicates(made)
    assert [item.id for item in joined] == ["i0000", "i0001"]
    assert [facts["system"] for facts in joined[0].all_facts] == ["A", "B", "C"]


def test_a_check_is_never_joined_with_a_real_item():
    ids = new_ids()
    blocks = [Block("text", "x")]
    made = [item_of(blocks, new_id=ids.__next__), item_of(blocks, new_id=ids.__next__, role="check")]
    assert len(without_duplicates(made)) == 2


def test_the_digest_tells_blocks_apart_by_all_that_is_seen_and_by_nothing_else():
    ids = new_ids()
    one = item_of([Block("text", "a", lang="en")], {"system": "A"}, new_id=ids.__next__)
    same = item_of([Block("text", "a", lang="en")], {"system": "B"}, new_id=ids.__next__)
    other = item_of([Block("text", "a", lang="sw")], {"system": "A"}, new_id=ids.__next__)
    assert one.digest == same.digest != other.digest


def test_instructions_of_a_team_become_blocks_with_their_emphasis():
    made = instruction_blocks(
        {"component_1": "Look for <b>rain</b>", "domain": '<font color="red">x</font>'}, "Read <i>all</i>"
    )
    assert [(block.title, block.value) for block in made] == [
        ("general", "Read <i>all</i>"),
        ("component_1", "Look for <b>rain</b>"),
        ("domain", '<font color="red">x</font>'),
    ]


def test_instructions_that_are_no_text_are_left_out():
    assert instruction_blocks({"component_1": 7, "component_2": ["x"], "other": "never shown"}) == ()


def test_the_few_allowed_tags_stay():
    (block,) = instruction_blocks(
        {}, '<ul><li>one</li><li><b>two</b><br><span style="color: blue">three</span></li></ul>'
    )
    assert tags_of(block.value).tags == {"ul", "li", "b", "br", "font"}


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<script>",
                "</script>",
                "<a href=x>",
                "<img onerror=x>",
                "<b",
                ">",
                '"',
                "<svg/onload=x>",
                "style=",
                "javascript:",
                "&lt;script&gt;",
                "<!--",
                "-->",
                "<b>",
                "</b>",
                "x",
            ]
        ),
        max_size=12,
    )
)
def test_no_page_of_pieces_gets_a_tag_or_attribute_beyond_the_list(pieces):
    ids = new_ids()
    item = item_of([Block("instructions", "".join(pieces))], new_id=ids.__next__)
    found = tags_of(item.blocks[0].value)
    assert found.tags <= ALLOWED
    assert found.attributes <= {"color"}
