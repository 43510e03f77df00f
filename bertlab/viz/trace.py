"""What one translation leaves behind, checked, and told in words: the seven steps of every decoded word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bertlab.viz.payload import DECIMALS, MOST_CELLS, as_array, cells
from bertlab.viz.style import number, shown, subscript

MANY_TOKENS = 7  # of a source: above this, numbers get shorter, and tokens stand in two rows
STEP_NAMES = ("Start", "New state", "Scores", "Softmax", "Context", "Combine", "Word")


def score_said(score: float, n_tokens: int) -> str:
    """A score, short enough to stand beside those of the other tokens.

    >>> score_said(-15.52, 7), score_said(-15.52, 8), score_said(9.14, 8), score_said(-10.4, 8)
    ('−15.52', '−16', '9.1', '−10')
    """
    if n_tokens > MANY_TOKENS and abs(score) >= 9.95:  # from there on, one decimal would make four signs
        return f"{score:.0f}".replace("-", "−")
    return number(score, 2 if n_tokens <= MANY_TOKENS else 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class DecodingTrace:
    """Everything that an encoder-decoder with attention computed for one sentence, a row a decoded word.

    Arrays may be given as PyTorch tensors; they are kept as float64 arrays.

    Attributes
    ----------
    source_tokens, target_tokens : sequences of Ts and Tt strings
        What was read, and what was written.
    encoder_states : (Ts, De) array
        h: a state for each source token.
    initial_state : (Dd,) array
        s₀: what the decoder starts from.
    states : (Tt, Dd) array
        s: the decoder's state after each input.
    scores, weights : (Tt, Ts) arrays
        Before and after the softmax over the source tokens.
    contexts : (Tt, De) array
        C: `weights @ encoder_states`; this is checked.
    combined : (Tt, Dc) array
        What the feed-forward layer makes of [C; s].
    top_words : sequence of Tt sequences of (word, probability)
        The most probable words of each step, best first.
    start : str
        The decoder's first input.

    Raises
    ------
    ValueError
        If shapes do not fit together, or a context is not the weighted sum of the encoder states.

    References
    ----------
    Luong et al. 2015, sec. 3: the new state scores; Bahdanau et al. 2015 score with the previous one.
    """

    source_tokens: Sequence[str]
    target_tokens: Sequence[str]
    encoder_states: np.ndarray
    initial_state: np.ndarray
    states: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    contexts: np.ndarray
    combined: np.ndarray
    top_words: Sequence[Sequence[tuple[str, float]]]
    start: str = "<s>"

    def __post_init__(self) -> None:
        """Turn tensors into arrays, and see that they belong together."""
        for name in (
            "encoder_states",
            "initial_state",
            "states",
            "scores",
            "weights",
            "contexts",
            "combined",
        ):
            object.__setattr__(self, name, as_array(getattr(self, name)))
        n_source, n_target = len(self.source_tokens), len(self.target_tokens)
        for name, rows, columns in (
            ("encoder_states", n_source, None),
            ("states", n_target, self.initial_state.shape[-1]),
            ("scores", n_target, n_source),
            ("weights", n_target, n_source),
            ("contexts", n_target, self.encoder_states.shape[-1]),
            ("combined", n_target, None),
        ):
            shape = getattr(self, name).shape
            if len(shape) != 2 or shape[0] != rows or columns not in (None, shape[1]):
                wanted = f"({rows}, {'any' if columns is None else columns})"
                raise ValueError(
                    f"{name} has shape {shape} but should have {wanted}: give one sentence, no batch"
                )
        if self.initial_state.ndim != 1 or len(self.top_words) != n_target:
            raise ValueError(
                f"initial_state of shape {self.initial_state.shape} , {len(self.top_words)} top_words: "
                f"give one vector, and the most probable words of each of the {n_target} steps"
            )
        off = np.abs(self.weights @ self.encoder_states - self.contexts).max(initial=0.0)
        if off > 1e-3:
            raise ValueError(
                f"contexts differ from weights @ encoder_states by {off:.2g}: give the states attended to"
            )

    def fed(self, position: int) -> str:
        """The token that the decoder is given at `position`: the start token, or the word before."""
        return self.start if position == 0 else self.target_tokens[position - 1]


class Step(NamedTuple):
    """One of the seven steps, in words: its name, its formula, and what happened in this sentence."""

    name: str
    formula: str
    text: str


def told(trace: DecodingTrace, position: int) -> list[Step]:
    """Tell the seven steps by which the word at `position` comes about, with their numbers.

    Parameters
    ----------
    trace : DecodingTrace
    position : int
        Of the word, from 0; the sentences count from 1, as the formulas do.

    Returns
    -------
    list of seven Step
    """
    t, before = subscript(position + 1), subscript(position)
    fed, best = shown(trace.fed(position)), shown(trace.top_words[position][0][0])
    scores, weights = trace.scores[position], trace.weights[position]
    source = [shown(token) for token in trace.source_tokens]
    highest, strongest = int(scores.argmax()), int(weights.argmax())
    memory = "s₀, handed over by the encoder" if position == 0 else f"s{before}, all that it remembers"
    mixed = sorted(np.argsort(-weights, kind="stable")[:3])
    terms = " + ".join(f"{weights[i]:.2f}·h{subscript(i + 1)}" for i in mixed)
    rest = " + …" if len(weights) > 3 else ""
    share = 100 * trace.top_words[position][0][1]
    texts = (
        (f"x{t} = embedding({fed})", f"The decoder takes the embedding of “{fed}” and its state {memory}."),
        (
            f"s{t} = cell(x{t}, s{before}) = {_beginning(trace.states[position])}",
            f"Both make the new state s{t}. The cell's own output goes no further: the word comes later.",
        ),
        (
            f"score(s{t}, hᵢ), highest {number(float(scores[highest]))}",
            f"The new state is compared with every encoder state; “{source[highest]}” fits best.",
        ),
        (
            f"a = softmax(scores), largest {weights[strongest]:.2f}",
            f"The softmax makes weights that sum to 1; most goes to “{source[strongest]}”.",
        ),
        (
            f"C{t} = Σ aᵢ·hᵢ = {terms}{rest}",
            f"The context C{t} is the sum of all encoder states, each by its weight.",
        ),
        (
            f"feed-forward([C{t}; s{t}]) = {_beginning(trace.combined[position])}",
            f"C{t} and s{t} are laid end to end and go through one layer, trained with all the rest.",
        ),
        (
            f"P({best}) = {share:.1f} %",
            f"A score for each word we know, a softmax: “{best}” is written, and becomes the next input.",
        ),
    )
    return [Step(name, *text) for name, text in zip(STEP_NAMES, texts, strict=True)]


def _beginning(vector: np.ndarray) -> str:
    """The first three numbers of a vector."""
    return f"({', '.join(number(float(x)) for x in vector[:3])}{', …' if len(vector) > 3 else ''})"


def decoding_payload(trace: DecodingTrace) -> dict[str, Any]:
    """What the browser draws of a trace: tokens, cells to colour, numbers, and the seven steps told.

    Parameters
    ----------
    trace : DecodingTrace

    Returns
    -------
    dict
        Ready for JSON.
    """
    positions = range(len(trace.target_tokens))
    states = cells(np.vstack([trace.initial_state, trace.states]))
    widest = max(trace.encoder_states.shape[1], trace.initial_state.size, trace.combined.shape[1])
    return {
        "source": list(trace.source_tokens),
        "target": list(trace.target_tokens),
        "inputs": [trace.fed(position) for position in positions],
        "encoder": cells(trace.encoder_states),
        "initial": states[0],
        "states": states[1:],
        "contexts": cells(trace.contexts),
        "combined": cells(trace.combined),
        "scores": [
            [score_said(float(score), len(trace.source_tokens)) for score in row] for row in trace.scores
        ],
        "weights": np.round(trace.weights, DECIMALS).tolist(),
        "words": [[(word, round(float(p), DECIMALS)) for word, p in words] for words in trace.top_words],
        "told": [told(trace, position) for position in positions],
        "subscripts": [subscript(i) for i in range(max(len(trace.source_tokens), len(positions)) + 1)],
        "note": "Cells: blue above 0, orange below, stronger further from it"
        + (
            f"; the first {MOST_CELLS} numbers of each vector of up to {widest}."
            if widest > MOST_CELLS
            else "."
        ),
    }
