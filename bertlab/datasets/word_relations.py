"""Word lists of our own to judge word vectors by: pairs in one relation, for analogies, and kinds of things.

They hold facts and grammar, no opinion of how much alike two words are. Two pairs of a relation make a
question: Oslo is to Norway as Rome is to …?

Examples
--------
>>> len(RELATIONS), sum(len(questions(relation)) for relation in RELATIONS.values())
(8, 3002)
"""

from __future__ import annotations

from itertools import permutations

Pair = tuple[str, str]


def _pairs(text: str) -> tuple[Pair, ...]:
    """Read "oslo norway, rome italy" as pairs."""
    return tuple((first, second) for first, second in (pair.split() for pair in text.split(",")))


MEANING = {
    "capital and country": _pairs(
        "paris france, london england, berlin germany, rome italy, madrid spain, vienna austria, "
        "athens greece, moscow russia, tokyo japan, beijing china, cairo egypt, lisbon portugal, "
        "stockholm sweden, oslo norway, copenhagen denmark, helsinki finland, dublin ireland, "
        "warsaw poland, budapest hungary, ankara turkey"
    ),
    "country and people": _pairs(
        "france french, england english, germany german, italy italian, spain spanish, russia russian, "
        "japan japanese, china chinese, greece greek, turkey turkish, sweden swedish, poland polish, "
        "ireland irish, india indian, egypt egyptian, america american, africa african, europe european, "
        "scotland scottish, mexico mexican"
    ),
    "man and woman": _pairs(
        "man woman, boy girl, king queen, brother sister, father mother, son daughter, husband wife, "
        "uncle aunt, he she, his her, himself herself, prince princess, actor actress, nephew niece, "
        "gentleman lady, men women, boys girls, brothers sisters, sons daughters, grandfather grandmother"
    ),
    "opposites": _pairs(
        "good bad, large small, long short, hot cold, old young, high low, rich poor, hard soft, light dark, "
        "fast slow, strong weak, early late, open closed, right wrong, true false, happy sad, warm cool, "
        "deep shallow, wide narrow"
    ),
}
GRAMMAR = {
    "one and many": _pairs(
        "book books, tree trees, horse horses, house houses, hand hands, eye eyes, friend friends, "
        "window windows, letter letters, road roads, river rivers, bird birds, dog dogs, soldier soldiers, "
        "ship ships, city cities, story stories, child children, foot feet, tooth teeth"
    ),
    "now and then": _pairs(
        "go went, see saw, take took, come came, give gave, know knew, think thought, find found, tell told, "
        "begin began, write wrote, speak spoke, run ran, bring brought, keep kept, leave left, feel felt, "
        "stand stood, sit sat, fall fell"
    ),
    "doing and did": _pairs(
        "walking walked, looking looked, asking asked, calling called, turning turned, talking talked, "
        "working worked, playing played, waiting waited, moving moved, opening opened, watching watched, "
        "laughing laughed, crying cried, trying tried, carrying carried, passing passed, crossing crossed, "
        "running ran, coming came"
    ),
    "more": _pairs(
        "great greater, good better, large larger, small smaller, high higher, low lower, long longer, "
        "short shorter, old older, young younger, strong stronger, weak weaker, warm warmer, cold colder, "
        "deep deeper, near nearer, fine finer, hard harder, bright brighter, quick quicker"
    ),
}
RELATIONS = MEANING | GRAMMAR


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


KINDS = {
    "months": _words("january february march april june july august september october november december"),
    "days": _words("monday tuesday wednesday thursday friday saturday sunday"),
    "numbers": _words(
        "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty fifty"
    ),
    "colours": _words("red blue green yellow white black brown grey purple pink crimson scarlet"),
    "family": _words("father mother brother sister uncle aunt cousin nephew niece son daughter grandmother"),
    "body": _words("head hand arm leg foot eye nose mouth shoulder neck knee chest finger"),
    "animals": _words("dog cat horse cow sheep pig wolf bear lion tiger rabbit fox elephant"),
    "countries": _words("france germany italy spain russia china japan india england ireland mexico egypt"),
    "sciences": _words("physics chemistry biology mathematics geology botany astronomy medicine"),
    "clothes": _words("coat hat dress shirt boots shoes cloak gloves jacket trousers cap"),
    "food": _words("bread butter cheese meat milk fruit soup cake beef potatoes sugar"),
    "furniture": _words("table chair bed sofa desk cupboard bench stool couch"),
    "weather": _words("rain snow wind storm thunder fog frost lightning"),
    "instruments": _words("piano violin guitar flute drums organ trumpet harp"),
    "war": _words("army soldiers troops battle regiment cavalry infantry artillery"),
}


def questions(relation: tuple[Pair, ...]) -> list[tuple[str, str, str, str]]:
    """Make all questions of a relation: each pair with each other one.

    Parameters
    ----------
    relation : its pairs.

    Returns
    -------
    rows a, b, c, d: a is to b as c is to d.

    Examples
    --------
    >>> questions((("oslo", "norway"), ("rome", "italy")))
    [('oslo', 'norway', 'rome', 'italy'), ('rome', 'italy', 'oslo', 'norway')]
    """
    return [(*first, *second) for first, second in permutations(relation, 2)]
