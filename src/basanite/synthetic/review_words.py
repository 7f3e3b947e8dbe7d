"""The words of made-up restaurant reviews: what is spoken of, and many ways to praise or to blame it.

Every adjective gives an adverb and a noun of its own, so that a pool of synonyms is large, as in real reviews: one fold
of labelled reviews holds few of its words, all unlabelled reviews together nearly all (H-3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

ASPECTS: Final = ("overall", "food", "ambiance", "service", "noise")
"""In the order of the five ratings."""

NOUNS: Final = {
    "overall": (
        "evening meal place restaurant dinner lunch visit experience night brunch occasion outing celebration spot"
    ),
    "food": (
        "food steak pasta salmon risotto soup salad chicken lamb duck bread dessert tuna burger halibut ravioli "
        "fish pork gnocchi shrimp crab lobster brisket gazpacho bisque cheesecake tiramisu brownie souffle tart "
        "carpaccio ceviche paella curry dumpling calamari polenta gratin omelette pancake sauce chowder "
        "quesadilla enchilada lasagna cannelloni schnitzel goulash sorbet mousse bruschetta"
    ),
    "ambiance": (
        "decor room atmosphere ambiance lighting patio view terrace dining-area courtyard interior fireplace "
        "garden seating booth bar lounge table setting style candlelight ceiling mural entrance"
    ),
    "service": (
        "service waiter waitress server staff host hostess bartender manager sommelier busboy team crew greeter "
        "receptionist owner runner valet attendant"
    ),
    "noise": "sound-level music crowd noise room-next-door band kitchen-door bar-scene table-beside-us "
    "party-behind-us playlist echo chatter television",
}

GENERIC: Final = (
    "great good excellent wonderful lovely nice fantastic fine amazing perfect outstanding superb terrific solid",
    "bad poor terrible awful disappointing horrible mediocre lousy weak dreadful subpar sad unacceptable inferior",
)
"""Adjectives that fit every noun: which rating they speak of, only the noun tells."""

PRAISE: Final = {
    "overall": (
        "memorable delightful enjoyable worthwhile magical special unforgettable splendid flawless remarkable "
        "exceptional joyful satisfying impressive rewarding stellar marvelous thrilling happy smooth pleasant "
        "pleasurable brilliant glorious sublime dreamy extraordinary blissful fabulous festive fun gratifying "
        "phenomenal sensational superlative treasured fulfilling merry exquisite"
    ),
    "food": (
        "delicious tasty fresh tender juicy flavorful succulent savory crisp creamy scrumptious divine "
        "mouthwatering zesty rich fragrant yummy delectable luscious hearty buttery silky crunchy moist aromatic "
        "velvety flaky balanced garlicky smoky tangy toothsome appetizing plump airy caramelized bright peppery "
        "sumptuous wholesome herbaceous nutty inventive"
    ),
    "ambiance": (
        "cozy romantic elegant charming beautiful intimate stylish warm inviting gorgeous classy rustic "
        "comfortable tasteful chic sophisticated quaint cheerful refined whimsical luxurious homey graceful "
        "dapper modern picturesque scenic posh gracious snug handsome opulent pretty tranquil welcoming leafy "
        "enchanting polished plush"
    ),
    "service": (
        "attentive friendly prompt courteous helpful knowledgeable professional efficient polite accommodating "
        "quick considerate patient kind thoughtful swift diligent cordial watchful responsive informed "
        "unobtrusive capable hospitable cheery eager caring alert personable punctual tactful dedicated nimble "
        "respectful observant earnest genial deft"
    ),
    "noise": (
        "quiet calm peaceful soft hushed muted mellow subdued serene gentle low discreet soothing relaxed restful "
        "faint muffled still placid tempered composed temperate sedate modest tame feathery"
    ),
}

BLAME: Final = {
    "overall": (
        "forgettable regrettable disastrous overpriced frustrating miserable dull pointless overrated dismal "
        "unhappy stressful chaotic uninspired lamentable tedious painful annoying joyless unpleasant dreary "
        "costly wasteful ruined pathetic boring tiresome grim rotten botched cursed abysmal lackluster hopeless "
        "laughable tragic unremarkable appalling wretched"
    ),
    "food": (
        "bland overcooked cold greasy soggy dry tasteless salty tough undercooked stale burnt rubbery chewy "
        "flavorless mushy oily raw watery limp gristly lukewarm tepid fatty gummy inedible sour stringy doughy "
        "leathery frozen charred slimy flat gluey acrid bony gritty spoiled oversalted pasty insipid curdled "
        "starchy"
    ),
    "ambiance": (
        "dingy cramped shabby tacky drafty dark dated gloomy sterile uncomfortable stuffy dirty worn musty ugly "
        "gaudy depressing cluttered bare run-down faded sticky unkempt grimy smelly soulless chilly garish drab "
        "kitschy tired untidy claustrophobic neglected seedy austere threadbare cheap harsh"
    ),
    "service": (
        "slow rude inattentive indifferent unfriendly careless arrogant forgetful dismissive clueless impatient "
        "sloppy surly absent snooty incompetent pushy curt sluggish abrupt negligent unhelpful disorganized "
        "snobbish grumpy lazy haughty hurried brusque condescending confused unprofessional sullen discourteous "
        "inept flustered hostile aloof oblivious"
    ),
    "noise": (
        "loud noisy deafening blaring rowdy raucous boisterous shrill thunderous booming pounding clamorous "
        "piercing screeching clattering obnoxious roaring echoing strident jarring cacophonous rambunctious "
        "thumping overpowering riotous earsplitting grating"
    ),
}

FILLERS: Final = (
    "We went on a {day} with {who}.",
    "I came here for {event} with {who}.",
    "{who} picked this one for {event}.",
    "We had booked for {number} on a {day}.",
    "Parking took {number} minutes on a {day}.",
    "We arrived at {number} and sat by the {thing}.",
    "There were {number} of us that {day}.",
    "We ordered the {dish} and the {dish2}.",
    "{who} had the {dish} and I had the {dish2}.",
    "It is {number} minutes from the {place}.",
    "We were in town for {event}.",
    "Our bill came to {number} dollars a head.",
    "We shared the {dish} to start with.",
    "The {place} is just across the street.",
)
FILLED: Final = {
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday weekday holiday rainy-evening",
    "who": (
        "my-wife my-husband my-parents our-neighbors two-friends my-boss a-colleague my-daughter my-son her- "
        "sister his-brother my-partner old-classmates some-clients my-aunt our-kids the-in-laws my-roommate"
    ),
    "event": (
        "my-birthday our-anniversary a-business-lunch a-date graduation mother's-day the-holidays restaurant-week "
        "new-year's-eve a-reunion a-bachelorette-party thanksgiving a-conference a-show a-ball-game"
    ),
    "number": "two three four five six seven eight nine ten twelve fifteen twenty thirty forty",
    "thing": "window door bar kitchen stairs fountain piano wall aquarium counter",
    "place": "theater station museum hotel stadium airport library office mall harbor park courthouse",
}
WHOSE: Final = (
    "A friend had told us that the",
    "Someone at work claimed that the",
    "I had read that the",
    "Last year, they say, the",
    "Other reviews said that the",
    "The couple next to us thought the",
    "My neighbor swore that the",
    "At the place across the street the",
)


DONE: Final = {
    "overall": ("The {noun} went {word}.", "Our {noun} ended {word}."),
    "food": ("The {noun} was {word} cooked.", "The {noun} was {word} prepared.", "The {noun} came {word} plated."),
    "ambiance": ("The {noun} was {word} done.", "The {noun} is {word} kept."),
    "service": (
        "The {noun} treated us {word}.",
        "The {noun} worked {word}.",
        "Everything was {word} handled by the {noun}.",
    ),
    "noise": ("The {noun} came across {word}.", "The {noun} went on {word} all night."),
}
"""How an adverb is used of each aspect."""
SAID: Final = {
    "adjective": (
        "The {noun} was {word}.",
        "I found the {noun} {word}.",
        "The {noun} seemed {word} to us.",
        "Once more a {word} {noun}.",
        "What a {word} {noun}!",
        "The {noun} is always {word}.",
    ),
    "noun": ("I still think of the {word} of the {noun}.", "The {word} of the {noun} stayed with us."),
}
NEGATED: Final = {
    "adjective": ("The {noun} was not {word}.", "The {noun} was never {word}.", "I would not call the {noun} {word}."),
    "adverb": ("I would not say that the {noun} was {word} managed.", "The {noun} was not {word} done."),
    "noun": ("There was no {word} in the {noun}.", "We saw no {word} in the {noun} at all."),
}


@dataclass(frozen=True)
class Pool:
    """The ways to say one thing of one aspect, commonest first: adjectives with their adverbs and nouns."""

    words: tuple[str, ...]
    forms: tuple[str, ...]
    """Of each word: `adjective`, `adverb` or `noun`."""


def words(text: str) -> tuple[str, ...]:
    """The words of a list; a hyphen stands for a space inside one entry.

    >>> words("my-wife soup")
    ('my wife', 'soup')
    """
    return tuple(word.replace("-", " ") for word in text.split())


def adverb(word: str) -> str:
    """The adverb of an adjective.

    >>> [adverb(word) for word in ("tasty", "gentle", "romantic", "dull", "slow")]
    ['tastily', 'gently', 'romantically', 'dully', 'slowly']
    """
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ily"
    if word.endswith("le") and word[-3] not in "aeiou":
        return f"{word[:-1]}y"
    return f"{word}ally" if word.endswith("ic") else f"{word}y" if word.endswith("ll") else f"{word}ly"


def quality(word: str) -> str:
    """The noun of an adjective.

    >>> [quality(word) for word in ("tasty", "bland")]
    ['tastiness', 'blandness']
    """
    return f"{word[:-1]}iness" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}ness"


def pool(aspect: str, *, praise: bool) -> Pool:
    """The pool of one aspect: rank by rank, adjectives before the rarer words made of them."""
    adjectives = words((PRAISE if praise else BLAME)[aspect])
    plain = [word for word in adjectives if " " not in word and not word.endswith(("ed", "ing", "en"))]
    entries = sorted(_rank_words(adjectives, plain), key=lambda entry: entry[0])
    return Pool(tuple(word for _, word, _ in entries), tuple(form for _, _, form in entries))


def _rank_words(adjectives: tuple[str, ...], plain: list[str]) -> Iterator[tuple[int, str, str]]:
    yield from ((place, word, "adjective") for place, word in enumerate(adjectives))
    yield from ((2 * place + 5, adverb(word), "adverb") for place, word in enumerate(plain))
    yield from ((3 * place + 10, quality(word), "noun") for place, word in enumerate(plain))
