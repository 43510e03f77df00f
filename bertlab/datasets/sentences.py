"""Cut a paragraph of a book into sentences, by rules that can be read."""

from __future__ import annotations

import re

# A point behind one of these ends no sentence: a name follows.
TITLES = {
    "Mr", "Mrs", "Ms", "Messrs", "Mme", "Mlle", "Dr", "Prof", "St", "Ste", "Rev", "Hon", "Capt", "Col", "Gen",
    "Maj", "Lieut", "Lt", "Sgt", "Adm", "Gov", "Pres", "Mt", "Ft",
}  # fmt: skip
# Behind one of these, it ends none before a number.
BEFORE_NUMBERS = {"No", "Nos", "Vol", "vol", "Chap", "chap", "Fig", "fig", "p", "pp", "cap"}
# And behind one of these never.
NEVER_LAST = {"i.e", "e.g", "viz", "vs", "cf"}

SPEECH = "said|cried|asked|replied|answered|exclaimed|shouted|whispered|called|thought|repeated|added|growled"

# What can end a sentence: marks, also with spaces between (". . ."), closing quotes or brackets, a space.
# Possessive (*+) and never begun inside a row of marks: else a long row would take the square of its length.
_END = re.compile(
    r"""(?<![.!?…])(?<![.!?…]\s)(?P<marks>[.!?…](?:\s?[.!?…])*+)(?P<closing>["'’”)\]]*+)\s+"""
    r"""(?=["'‘“(\[]*+(?P<next>\w))"""
)
_REACH = 60  # characters before a point in which its word stands
_WHO_SPEAKS = re.compile(rf"(?:[A-Z]\S*\s){{1,2}}(?:{SPEECH})\b")


def split_sentences(paragraph: str) -> list[str]:
    """Cut a paragraph into its sentences.

    A sentence ends with a mark (. ! ? …), the quotes and brackets that close there, a space, and a word
    that begins with a capital letter or a digit. It does not end behind a title (Mr. Holmes), an initial
    (H. G. Wells), a few abbreviations, nor between a speech and who speaks ("Stop!" Tom cried). Three
    points end one unless "I" follows.

    Parameters
    ----------
    paragraph : text without a line end. White space is kept within a sentence, and left out between two.

    Returns
    -------
    its sentences, none of them empty. Joined by spaces they are the paragraph, up to its white space.

    Examples
    --------
    >>> split_sentences('"Are you Mr. J. Watson?" he asked. I nodded... The rain fell.')
    ['"Are you Mr. J. Watson?" he asked.', 'I nodded...', 'The rain fell.']
    """
    sentences, start = [], 0
    for end in _END.finditer(paragraph):
        if _ends_here(paragraph, start, end):
            sentences.append(paragraph[start : end.end()].strip())
            start = end.end()
    return [sentence for sentence in (*sentences, paragraph[start:].strip()) if sentence]


def _ends_here(paragraph: str, start: int, end: re.Match[str]) -> bool:
    """Tell whether a sentence really ends where one can."""
    marks, closing, following = end["marks"], end["closing"], end["next"]
    if not (following.isupper() or following.isdigit()):
        return False
    if len(re.sub(r"\s", "", marks)) > 1 or "…" in marks:  # points, or ?! and the like
        return not (marks[0] in ".…" and re.match(r"I\b", paragraph[end.start("next") :]))
    if closing:
        return marks == "." or not _WHO_SPEAKS.match(paragraph, end.start("next"))
    return marks != "." or not _is_abbreviated(
        paragraph[max(start, end.start() - _REACH) : end.start()], following
    )


def _is_abbreviated(before: str, following: str) -> bool:
    """Tell whether the point behind a text belongs to its last word."""
    words = ["", "", *re.findall(r"[\w.]+", before)]
    word = words[-1]
    if word.capitalize() in TITLES or word in NEVER_LAST:  # also DR. SEWARD
        return True
    if word in BEFORE_NUMBERS and following.isdigit():
        return True
    if word == "I":  # an initial behind a name or another initial; else the pronoun, as in "So am I."
        return bool(re.fullmatch(r"[A-Z]\.|", words[-2]))
    return bool(re.fullmatch(r"(?:[A-Z]\.)*[A-Z]", word))
