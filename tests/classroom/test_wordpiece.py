"""Each check of notebook 08 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import pytest

from bertlab.classroom.wordpiece import BY_HAND, VOCABULARY, check_cut, check_fewest, check_longest_match


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


def longest_match(word, vocabulary):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = "##" * (start > 0) + word[start:end]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces


def fewest(word, vocabulary):
    best = {0: []}
    for end in range(1, len(word) + 1):
        ways = [
            [*best[start], piece]
            for start in range(end)
            if start in best and (piece := "##" * (start > 0) + word[start:end]) in vocabulary
        ]
        if ways:
            best[end] = min(ways, key=len)
    return best.get(len(word), ["[UNK]"])


def test_the_right_answers_pass(capsys):
    assert said(check_cut, ["[UNK]"], capsys).startswith("✓")
    assert said(check_longest_match, longest_match, capsys).startswith("✓")
    assert said(check_fewest, fewest, capsys).startswith("✓")
    assert longest_match("unhappiness", BY_HAND) == ["[UNK]"]
    assert fewest("unhappiness", BY_HAND) == ["un", "##happi", "##ness"]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (["un", "##happi", "##ness"], "there is a longer one than 'un'"),
        (["unh", "app", "pi", "ness"], "with ## in front"),
        (["unh", "##app", "##i", "##ness"], "'##i' is no piece"),
        (["unh", "##app", "[UNK]"], "not the rest alone"),
        (["unh", "##app"], "is left over"),
        (["unh", "##ap", "##pi", "##ness"], "longer piece fits"),
        ("[UNK]", "a list of strings"),
        (["unhappiness"], "never back"),
    ],
)
def test_exercise_1_names_the_mistake(answer, sentence, capsys):
    assert sentence in said(check_cut, answer, capsys)


def without_marks(word, vocabulary):
    plain = {piece.removeprefix("##") for piece in vocabulary}
    return [piece.removeprefix("##") for piece in longest_match(word, plain | {"##" + p for p in plain})]


def shortest(word, vocabulary):
    pieces, start = [], 0
    while start < len(word):
        for end in range(start + 1, len(word) + 1):
            piece = "##" * (start > 0) + word[start:end]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces


def partial(word, vocabulary):
    pieces = longest_match(word, vocabulary)
    return ["play", "[UNK]"] if word == "playx" else pieces


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (without_marks, "with ## in front"),
        (lambda w, v: longest_match(w, v)[:1], "you stop after the first piece"),
        (shortest, "the shortest piece first"),
        (fewest, "greedy is asked for"),
        (partial, "makes the whole word [UNK]"),
        (lambda w, v: ["##d", "##a", "##b"] if w == "dab" else longest_match(w, v), "cannot begin one"),
        (lambda w, v: [] if w == "a" else longest_match(w, v), "a word of one letter"),
        (lambda w, v: [w], "'playing' became ['playing']"),
        (lambda w, v: ..., "not tried yet"),
    ],
)
def test_exercise_2_names_the_mistake(answer, sentence, capsys):
    assert sentence in said(check_longest_match, answer, capsys)


def every_way(word, vocabulary, start=0):
    ways = [[]] if start == len(word) else []
    for end in range(start + 1, len(word) + 1):
        piece = "##" * (start > 0) + word[start:end]
        if piece in vocabulary and (rest := every_way(word, vocabulary, end)) is not None:
            ways.append([piece, *rest])
    best = min(ways, key=len, default=None)
    return best if start or best is not None else ["[UNK]"]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (longest_match, "that is greedy"),
        (lambda w, v: fewest(w, v) if w == "abcde" else longest_match(w, v), "dead end"),
        (lambda w, v: [p for p in fewest(w, v) if p != "[UNK]"], "where there is no way"),
        (every_way, "keep the best way for each beginning"),
        (lambda w, v: longest_match(w, v) if w == "xabcde" else fewest(w, v), "but every one"),
        (lambda w, v: ["a", "##b", "##cde"] if "##de" in v and w == "abcde" else fewest(w, v), "has fewer"),
        (lambda w, v: ["a", *["##a"] * 39] if len(w) == 40 else fewest(w, v), "expected 20"),
    ],
)
def test_exercise_3_names_the_mistake(answer, sentence, capsys):
    assert sentence in said(check_fewest, answer, capsys)
    assert VOCABULARY
