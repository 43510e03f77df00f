"""Checks for the exercises of notebook 01, Seq2Seq and attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bertlab.classroom.checks import close, exercise, expect
from bertlab.reference.attention import additive_scores, attend

Array = np.ndarray
Step = Callable[[str, int], tuple[dict[str, float], int]]


@exercise("Exercise 1 (weights by hand)")
def check_weights(weights: Sequence[float]) -> None:
    """Check the weights of the scores ln 1, ln 3 and ln 6."""
    expect(
        len(weights) == 3,
        f"you gave {len(weights)} weights, but there are three scores: give one weight each",
    )
    scores = np.log([1, 3, 6])
    expect(
        not close(weights, scores / scores.sum()),
        "these are shares of the scores: take exp of each score first",
    )
    expect(not close(weights, [1, 3, 6]), "these are the exponentials: divide each by their sum")
    expect(
        abs(sum(weights) - 1) < 1e-6, f"your weights sum to {sum(weights):.3g}: they must share out exactly 1"
    )
    expect(close(weights, [0.1, 0.3, 0.6]), "they sum to 1 but are not exp(score) / sum: exp(ln 3) is 3")


@exercise("Exercise 2 (context of one decoder state)")
def check_context(context: Callable[[Array, Array, Array], Array]) -> None:
    """Check a function of a state (D,), the encoder states (Ts, D) and which are real (Ts,) bool."""
    rng = np.random.default_rng(0)
    state, states = rng.normal(size=3), rng.normal(size=(5, 3))
    everything = np.ones(5, dtype=bool)
    real = np.array([True, True, True, False, False])
    answer = np.asarray(context(state, states, everything))
    expect(
        answer.shape == (3,), f"the context has shape {answer.shape}, expected (3,): one number for each of D"
    )
    scores = states @ state
    wanted = attend(scores[None], states)[0][0]
    expect(not close(answer, states.mean(axis=0)), "this is the plain mean: weigh the states by their scores")
    expect(
        not close(answer, scores @ states), "you summed by the raw scores: put them through the softmax first"
    )
    expect(
        not close(answer, states[scores.argmax()]), "this is the best state alone: mix all, by their weights"
    )
    expect(
        close(answer, wanted),
        "the context is off without padding: softmax(states @ state), then mix",
    )
    masked = np.asarray(context(state, states, real))
    zeroed = attend(np.where(real, scores, 0.0)[None], states)[0][0]
    cut = np.where(real, attend(scores[None], states)[1][0], 0.0) @ states
    expect(not close(masked, wanted), "padding changed nothing: states that are not real must not be read")
    expect(not close(masked, zeroed), "a score of 0 still gets exp(0) = 1: give padding the score -inf")
    expect(not close(masked, cut), "you hid padding after the softmax: the weights left no longer sum to 1")
    expect(close(masked, attend(scores[None], states, real[None])[0][0]), "with padding the context is off")


@exercise("Exercise 3 (greedy decoding)")
def check_greedy(decode: Callable[[Step, str, int, int], list[str]]) -> None:
    """Check a function of a step, its start token, its first state, and the largest number of words."""
    words = ["fünf", "und", "achtzig", "<END>"]
    calls: list[str] = []

    def step(token: str, state: int) -> tuple[dict[str, float], int]:
        expect(
            len(calls) < 50, "your loop does not end: stop at <END>, and after the largest number of words"
        )
        calls.append(token)
        best = words[state % len(words)]
        return {word: 0.7 if word == best else 0.1 for word in words}, state + 1

    answer = list(decode(step, "<END>", 0, 20))
    expect(calls[0] == "<END>", f"the first step got {calls[0]!r}: it must get the start token")
    expect(len(calls) == 1 or calls[1] != "<END>", "every step got the start token: feed the last word back")
    expect("<END>" not in answer, "<END> stands in the answer: it ends the sentence and is not a word of it")
    expect(
        answer == ["fünf", "und", "achtzig"],
        f"you wrote {answer}: take the most probable word, carry the state on",
    )
    calls.clear()
    short = list(decode(step, "<END>", 0, 2))
    expect(len(short) == 2, f"with at most 2 words you wrote {len(short)}: stop at the limit too")


@exercise("Exercise 4 (the additive score)")
def check_additive(score: Callable[[Array, Array, Array, Array, Array], Array]) -> None:
    """Check a function of a state (D,), encoder states (Ts, D), w_query and w_key (A, D), v (A,)."""
    rng = np.random.default_rng(1)
    state, states, w_query, w_key, v = (
        rng.normal(size=shape) for shape in ((3,), (5, 3), (4, 3), (4, 3), (4,))
    )
    answer = np.asarray(score(state, states, w_query, w_key, v))
    expect(
        answer.shape == (5,),
        f"the scores have shape {answer.shape}, expected (5,): one for each encoder state",
    )
    hidden = w_query @ state + states @ w_key.T  # (Ts, A)
    expect(
        not close(answer, hidden @ v), "the tanh is missing: without it the score is a mere sum of two terms"
    )
    expect(
        not close(answer, np.tanh(hidden @ v)),
        "tanh comes before v: v mixes the A hidden units into one score",
    )
    separate = (np.tanh(w_query @ state) + np.tanh(states @ w_key.T)) @ v
    expect(
        not close(answer, separate), "add first, then tanh once: the two must meet inside the non-linearity"
    )
    wanted = additive_scores(state[None], states, w_query, w_key, v)[0]
    expect(close(answer, wanted), "the scores are off: v · tanh(w_query state + w_key encoder_state)")
