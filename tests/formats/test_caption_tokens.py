"""The tokeniser for captions against lines that the COCO tool's own tokeniser made.

The right-hand sides were printed once by `edu.stanford.nlp.process.PTBTokenizer -preserveLines -lowerCase`
(stanford-corenlp-3.4.1.jar, the one in pycocoevalcap), then the 17 marks were taken out by hand.
"""

import pytest

from basanite.formats.texts.captions import DROPPED, coco_words, split_words

SAME = {
    "A man's dog isn't on the street.": "a man 's dog is n't on the street",
    "It's a black-and-white photo of two t-shirts!": "it 's a black-and-white photo of two t-shirts",
    "They cannot see the 10:30 a.m. train; it costs $5.50 (or 50%).": "they can not see the 10:30 a.m. train it costs "
    "$ 5.50 or 50 %",
    "\"Stop\" sign -- with graffiti... and 'quotes'": "stop sign with graffiti and quotes",
    "A U.S. flag & a 1/2 eaten pizza, 1,000 pieces": "a u.s. flag & a 1/2 eaten pizza 1,000 pieces",
    "she's gonna wanna gotta lemme gimme": "she 's gon na wan na got ta lem me gim me",
    "don't can't won't I'll you're we've he'd I'm": "do n't ca n't wo n't i 'll you 're we 've he 'd i 'm",
    "café naïve Zoë’s dog’s “fancy” quotes": "café naïve zoë 's dog 's fancy quotes",
    "A plate w/ rice and/or beans.": "a plate w / rice and/or beans",
    "A dog.A cat,and a bird:three": "a dog.a cat and a bird three",
    "the boys' toys and the '90s rock 'n' roll": "the boys toys and the '90s rock 'n' roll",
    "Two men,one with a hat?!": "two men one with a hat",
    "Mr. Smith vs. Dr. Jones at St. Mary's etc.": "mr. smith vs. dr. jones at st. mary 's etc.",
    "1st 2nd 100km/h 5pm 12th-century 20-year-old": "1st 2nd 100km/h 5pm 12th-century 20-year-old",
    "AT&T rock&roll 50's 1950s": "at&t rock & roll 50 's 1950s",
    "hello...world wait--what no-- ok": "hello world wait what no ok",
    "A man riding a wave on top of a surfboard .": "a man riding a wave on top of a surfboard",
    "ma'am o'clock o'brien's": "ma'am o'clock o'brien 's",
    "一只猫坐在桌子上": "一只猫坐在桌子上",
    "हिन्दी टेक्स्ट": "हिन्दी टेक्स्ट",
}


@pytest.mark.parametrize("caption", SAME)
def test_words_are_those_of_the_coco_tool(caption):
    assert list(coco_words(caption)) == SAME[caption].split()


def test_seventeen_marks_are_dropped():
    assert len(DROPPED) == 17
    assert coco_words(" ".join(sorted(DROPPED))) == ()


def test_an_accent_may_be_written_in_two_ways():
    assert coco_words("cafe\u0301") == coco_words("caf\u00e9") == ("caf\u00e9",)


def test_tokenised_text_is_only_split():
    assert split_words(" A  dog 's\tbone .\n") == ("A", "dog", "'s", "bone", ".")
    assert split_words("") == coco_words(" .\n") == ()


@pytest.mark.parametrize("piece", ["'s", "1,", "a", ".", "a.b.", "a@", "n't'", "-", "\u0301", "http://"], ids=ascii)
def test_long_rows_of_anything_end_soon(piece):
    assert isinstance(coco_words(piece * 20_000), tuple)
