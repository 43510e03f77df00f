"""Checks for the exercises of notebook 07, the whole Transformer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bertlab.classroom.checks import close, exercise, expect

END = "<END>"
Step = Callable[[tuple[str, ...]], Mapping[str, float]]
Table = Mapping[tuple[str, ...], Mapping[str, float]]

# The better first word leads to the worse sentence.
GARDEN = {
    (): {"the": 0.6, "a": 0.4},
    ("the",): {"dog": 0.4, "cat": 0.3, "man": 0.3},
    ("a",): {"dog": 0.9, "cat": 0.1},
}
# A short sentence is the most probable, but a longer one is begun more probably.
SHORT = {
    (): {"yes": 0.45, "well": 0.55},
    ("yes",): {END: 1.0},
    ("well",): {"no": 0.5, "yes": 0.5},
    ("well", "no"): {END: 1.0},
    ("well", "yes"): {END: 1.0},
}
# The best sentence begins with the least probable of three words: two places cannot find it.
HIDDEN = {
    (): {"a": 0.36, "b": 0.34, "c": 0.3},
    ("a",): {"x": 0.5, "y": 0.5},
    ("b",): {"x": 0.5, "y": 0.5},
    ("c",): {"x": 1.0},
}


@exercise("Exercise 1 (smoothed targets)")
def check_smoothed(answer: Sequence[float]) -> None:
    """Check the target of five words, the third of them right, with a smoothing of 0.2."""
    given = np.asarray(answer, dtype=float)
    expect(
        given.shape == (5,), f"your answer has shape {given.shape}: write one number for each of five words"
    )
    mistakes: list[tuple[list[float], str]] = [
        ([0, 0, 1, 0, 0], "that is the target without smoothing: every word must be asked for a little"),
        (
            [0.05, 0.05, 0.8, 0.05, 0.05],
            "you shared 0.2 among the four wrong words: in our formula it is shared among all five",
        ),
        (
            [0.04, 0.04, 0.8, 0.04, 0.04],
            "they sum to 0.96: the right word gets its share of the 0.2, too",
        ),
        ([0.2, 0.2, 0.2, 0.2, 0.2], "that is a smoothing of 1: nothing is left of the right word"),
        ([0.2, 0.2, 0.8, 0.2, 0.2], "they sum to 1.6: 0.2 is shared, not given to each"),
    ]
    for wrong, sentence in mistakes:
        expect(not close(given, wrong), sentence)
    expect(abs(given.sum() - 1) < 1e-6, f"your numbers sum to {given.sum():.3g}: a target is a distribution")
    expect(int(given.argmax()) == 2, "the third word is the right one: the largest number stands there")
    expect(
        close(given, [0.04, 0.04, 0.84, 0.04, 0.04]), "each of five gets 0.2 / 5; the right one 0.8 besides"
    )


@exercise("Exercise 2 (count a layer)")
def check_layer_parameters(count: Callable[[int, int], tuple[int, int]]) -> None:
    """Check a function of D and F that counts the parameters of an encoder layer and of a decoder layer."""
    for d, f in ((6, 20), (512, 2048)):
        answer = count(d, f)
        expect(
            np.shape(answer) == (2,),
            "return two numbers: first of the encoder layer, then of the decoder layer",
        )
        encoder, decoder = answer
        attention, network, norm = 4 * (d * d + d), 2 * d * f + f + d, 2 * d
        right = attention + network + 2 * norm
        missing = {
            4
            * d: "4·D are missing: each of the four matrices of attention has a bias; each of the two norms "
            "has a gain *and* a shift",
            2 * d: "2·D are missing: each of the two parts has a norm of its own, with a gain *and* a shift",
            f + d: "F + D are missing: the feed-forward network has two biases",
            4 * d + f + d: "5·D + F are missing: every matrix comes with a bias",
            d * d + d: "a matrix and its bias are missing: behind the heads stands a fourth, W_O",
            d * d: "D·D are missing: behind the heads stands a fourth matrix, W_O",
            d * f: "D·F are missing: the feed-forward network has two matrices, D → F and F → D",
        }
        expect(right - encoder not in missing, f"encoder layer, D = {d}: " + missing.get(right - encoder, ""))
        expect(
            encoder == right, f"encoder layer, D = {d}: {encoder:,} is not the {right:,} of nn.EncoderLayer"
        )
        expect(
            decoder != encoder,
            "a decoder layer is no encoder layer: it has one more attention, to the source",
        )
        expect(
            decoder != right + attention, f"decoder layer, D = {d}: its third part has a norm of its own, too"
        )
        expect(
            decoder == right + attention + norm,
            f"decoder layer, D = {d}: {decoder:,}, not the {right + attention + norm:,} of nn.DecoderLayer: "
            "it has an attention and a norm more than the encoder layer",
        )


@exercise("Exercise 3 (a beam)")
def check_beam(beam: Callable[[Step, int, int], Sequence[str]]) -> None:
    """Check a function of step, size and limit that returns the most probable whole sentence it found."""
    _check_result(beam)
    asked = _Asked(HIDDEN)
    found = tuple(beam(asked, 2, 5))
    for length in (1, 2):
        followed = {words for words in asked.asked if len(words) == length}
        expect(
            len(followed) <= 2,
            f"with two places you followed {len(followed)} beginnings of length {length}: the beginnings "
            "compete with each other, so keep the best two of *all* candidates",
        )
    expect(found[:1] in (("a",), ("b",)), f"in a tree of three beginnings and two places you found {found}")
    expect(
        tuple(beam(_Asked(GARDEN), 1, 5)) == ("the", "dog", END),
        "with one place a beam is greedy decoding: 'the dog'",
    )
    endless = {(): {"na": 0.9, END: 0.1}} | {("na",) * n: {"na": 0.9, END: 0.1} for n in range(1, 9)}
    asked = _Asked(endless)
    found = tuple(beam(asked, 2, 4))
    expect(max(map(len, asked.asked)) < 4, "you go on beyond `limit`: no sentence has more words than that")
    expect(found == (END,), f"of 'na na …' with a limit of 4, the whole sentence {(END,)} wins, not {found}")


def _check_result(beam: Callable[[Step, int, int], Sequence[str]]) -> None:
    """Look at what is found with two places where one place loses."""
    found = beam(_Asked(GARDEN), 2, 5)
    expect(
        np.ndim(found) == 1 and all(isinstance(word, str) for word in found),
        f"return the words of one sentence, not {found!r}",
    )
    expect(bool(found) and found[-1] == END, f"your sentence {list(found)} does not end with {END!r}")
    expect(
        tuple(found) != ("the", "dog", END),
        "with two places you still find what greedy decoding finds: keep the two best beginnings, not one",
    )
    expect(
        tuple(found) == ("a", "dog", END),
        f"you found {list(found)}; the most probable is 'a dog', 0.4 · 0.9 = 0.36: multiply along the way",
    )
    found = tuple(beam(_Asked(SHORT), 2, 5))
    expect(
        found[:1] != ("well",),
        "'yes' (0.45) ended early and got lost, 'well …' has 0.275: set whole sentences aside, then compare",
    )
    expect(found == ("yes", END), f"you found {list(found)}, the most probable is 'yes', 0.45")


class _Asked:
    """A model made of a table: what may follow each beginning; remembers what it was asked."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, beginning: tuple[str, ...]) -> Mapping[str, float]:
        beginning = tuple(beginning)
        expect(END not in beginning, f"you asked what follows {beginning}, which has ended: set it aside")
        self.asked.append(beginning)
        return dict(self.table.get(beginning, {END: 1.0}))
