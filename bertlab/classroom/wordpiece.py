"""Checks for the exercises of notebook 08, WordPiece: cut by hand, in code, into the fewest pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bertlab.classroom.checks import exercise, expect

UNKNOWN = "[UNK]"
BY_HAND = frozenset(("un", "unh", "##app", "##happy", "##happi", "##ap", "##pi", "##n", "##ness", "##ess"))
VOCABULARY = frozenset(
    ("a", "ab", "abc", "b", "c", "##a", "##b", "##c", "##d", "##e", "##cde", "##ef", "play", "##ing")
)
Cut = Callable[[str, frozenset[str]], Sequence[str]]


@exercise("Exercise 1 (by hand)")
def check_cut(pieces: Sequence[str]) -> None:
    """Check the pieces of "unhappiness" under the small vocabulary of the exercise."""
    answer = list(pieces)
    expect(not isinstance(pieces, str), "write a list of strings, a string a piece")
    mistakes = [
        (
            ["un", "##happi", "##ness"],
            "the first piece must be the longest that the word begins with: there is a longer one than 'un'",
        ),
        (["unh", "app", "pi", "ness"], "a piece inside a word is written with ## in front"),
        (
            ["unh", "##ap", "##pi", "##ness"],
            "that spells the word, but behind 'unh' a longer piece fits than '##ap', and greedy takes it",
        ),
        (["unh", "##app", "##i", "##ness"], "'##i' is no piece of the vocabulary"),
        (
            ["unh", "##app", UNKNOWN],
            "if a rest begins with no piece, the whole word is [UNK], not the rest alone",
        ),
        (["unh", UNKNOWN], "if a rest begins with no piece, the whole word is [UNK], not the rest alone"),
        (["unh", "##app"], "the rest 'iness' is left over: what becomes of a word that cannot be cut?"),
    ]
    for wrong, sentence in mistakes:
        expect(answer != wrong, sentence)
    expect(
        answer == [UNKNOWN],
        "go from the left, always the longest piece, and never back: what is left behind 'unh' and '##app'?",
    )


@exercise("Exercise 2 (longest match)")
def check_longest_match(cut: Cut) -> None:
    """Check a function of a word and a set of pieces that returns the pieces of the word."""
    answer = list(cut("playing", VOCABULARY))
    expect(answer != ["play", "ing"], "inside a word, look up the piece with ## in front")
    expect(answer != ["play"], "you stop after the first piece: go on with the rest, until nothing is left")
    expect(answer == ["play", "##ing"], f"'playing' became {answer}, expected ['play', '##ing']")
    answer = list(cut("abcde", VOCABULARY))
    expect(
        answer not in (["a", "##b", "##c", "##d", "##e"], ["a", "##b", "##cde"]),
        "you take the shortest piece first: begin with the whole rest, and shorten it",
    )
    expect(
        answer != ["ab", "##cde"], "two pieces are fewer, but greedy is asked for: the longest first piece"
    )
    expect(answer == ["abc", "##d", "##e"], f"'abcde' became {answer}, expected ['abc', '##d', '##e']")
    answer = list(cut("playx", VOCABULARY))
    expect(
        answer not in (["play", UNKNOWN], ["play"]),
        "a rest that begins with no piece makes the whole word [UNK]: ['play', …] must be thrown away",
    )
    expect(answer == [UNKNOWN], f"'playx' became {answer}, expected ['[UNK]']")
    answer = list(cut("dab", VOCABULARY))
    expect(answer == [UNKNOWN], f"'dab' became {answer}: '##d' goes on inside a word, it cannot begin one")
    expect(list(cut("a", VOCABULARY)) == ["a"], "a word of one letter must work, too")


@exercise("Exercise 3 (fewest pieces)")
def check_fewest(cut: Cut) -> None:
    """Check a function that cuts a word into as few pieces as can be; [UNK] if there is no way."""
    answer = list(cut("abcde", VOCABULARY))
    expect(answer != ["abc", "##d", "##e"], "that is greedy: 'abcde' can be cut into two pieces")
    expect(answer == ["ab", "##cde"], f"'abcde' became {answer}, expected ['ab', '##cde']")
    dead_end = frozenset(("una", "un", "##aff", "##able"))
    answer = list(cut("unaffable", dead_end))
    expect(answer != [UNKNOWN], "'una' leads into a dead end, but there is a way: try every first piece")
    expect(answer == ["un", "##aff", "##able"], f"'unaffable' became {answer}")
    answer = list(cut("playx", VOCABULARY))
    expect(answer == [UNKNOWN], f"'playx' became {answer}: where there is no way, the word is ['[UNK]']")
    later = frozenset(("x", "##ab", "##abc", "##cde", "##d", "##e"))
    answer = list(cut("xabcde", later))
    expect(
        answer != ["x", "##abc", "##d", "##e"],
        "'xabcde' can be cut into three pieces: not only the first piece may be shorter, but every one",
    )
    expect(answer == ["x", "##ab", "##cde"], f"'xabcde' became {answer}, expected ['x', '##ab', '##cde']")
    first_way = frozenset(("abc", "a", "##b", "##cde", "##de"))
    answer = list(cut("abcde", first_way))
    expect(answer == ["abc", "##de"], f"'abcde' became {answer}, but ['abc', '##de'] has fewer pieces")
    ways = frozenset(("a", "aa", "##a", "##aa"))
    calls = _Counted(ways)
    answer = list(cut("a" * 40, calls))
    expect(len(answer) == 20, f"40 letters a became {len(answer)} pieces, expected 20 of two letters")


class _Counted(frozenset[str]):
    """A vocabulary that stops whoever asks it too often: there are millions of ways to cut a long word."""

    MOST = 100_000

    def __init__(self, pieces: frozenset[str]) -> None:
        self.asked = 0

    def __contains__(self, piece: object) -> bool:
        self.asked += 1
        expect(
            self.asked <= self.MOST,
            "you try millions of ways anew: keep the best way for each beginning of the word",
        )
        return super().__contains__(piece)
