"""Widgets of the course: Python prepares and checks, the browser draws, nothing is fetched from the network.

Every explorer brings its still twin: a notebook that was saved, exported, or is not trusted shows a picture.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.distributions import softmax_bars
from bertlab.viz.heatmaps import attention_map
from bertlab.viz.payload import (
    as_array,
    attention_payload,
    softmax_table,
    temperature_payload,
)
from bertlab.viz.seven_steps import seven_steps
from bertlab.viz.style import check_alt, picture_bundle, shown
from bertlab.viz.trace import STEP_NAMES, DecodingTrace, decoding_payload

STATIC = Path(__file__).parent / "static"


def script(name: str) -> str:
    """The explorer's JavaScript as one module: what `kit.js` shares, then `name`.js.

    A widget's module cannot import a second file in every front end, so the two become one here.
    """
    kit = re.sub(r"^export ", "", (STATIC / "kit.js").read_text("utf-8"), flags=re.MULTILINE)
    own = re.sub(r'^import .* from "\./kit\.js";\n', "", (STATIC / f"{name}.js").read_text("utf-8"))
    return kit + own


class Explorer(anywidget.AnyWidget):
    """What all explorers have: data for the browser, a still picture, and the picture in words."""

    _css = STATIC / "kit.css"
    payload = traitlets.Dict().tag(sync=True)

    def __init__(self, payload: dict[str, Any], still: Callable[[], Figure], alt: str, **state: int) -> None:
        super().__init__(payload=payload, **state)
        self.still = still
        self.alt = check_alt(alt)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        live, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        picture, described = picture_bundle(self.still(), self.alt)
        return {**live, **picture}, {**metadata, **described}


class DecodingSteps(Explorer):
    """The seven steps by which each word of a translation comes about; `step` counts through all words."""

    _esm = script("decoding_steps")
    step = traitlets.Int(0).tag(sync=True)


def decoding_steps(trace: DecodingTrace, step: int = 0) -> DecodingSteps:
    """Step through one translation: slider, buttons, arrow keys, or play.

    Parameters
    ----------
    trace : DecodingTrace
        What the model computed.
    step : int
        Where to begin: seven times the position of the word, plus 0 to 6.

    Returns
    -------
    DecodingSteps
        Its `step` can be read and set.

    Raises
    ------
    ValueError
        If there is no such step.
    """
    n_steps = len(STEP_NAMES) * len(trace.target_tokens)
    if not 0 <= step < n_steps:
        raise ValueError(f"step={step}: there are {n_steps} steps, from 0")
    position = step // len(STEP_NAMES)
    word = shown(trace.target_tokens[position])
    alt = (
        f"Seven steps by which “{word}” is written, word {position + 1} of "
        f"“{' '.join(map(shown, trace.target_tokens))}”, from “{' '.join(map(shown, trace.source_tokens))}”."
    )
    return DecodingSteps(decoding_payload(trace), lambda: seven_steps(trace, position), alt, step=step)


class SoftmaxTemperature(Explorer):
    """A softmax whose temperature is moved by a slider; `place` counts the slider's places."""

    _esm = script("softmax_temperature")
    place = traitlets.Int(0).tag(sync=True)


def softmax_temperature(
    scores: ArrayLike, labels: Sequence[str], marks: Mapping[str, float] | None = None
) -> SoftmaxTemperature:
    """Divide scores by a temperature before the softmax, and see what becomes of it.

    Parameters
    ----------
    scores : (n,) array
    labels : sequence of n strings
    marks : mapping of name to temperature, optional
        One to three; each gets a button, e.g. ``{"not divided": 1, "÷ √64": 8}``. The slider begins at 1.

    Returns
    -------
    SoftmaxTemperature
        Its `place` on the slider can be read and set.
    """
    marks = {"temperature 1": 1.0} if marks is None else dict(marks)
    temperatures = np.union1d(np.geomspace(0.05, 50, 61), [1.0, *marks.values()])
    payload = temperature_payload(scores, labels, temperatures, marks)
    shown_at = sorted({0.1, 1.0, *marks.values()} | (set() if max(marks.values()) > 3 else {10.0}))
    few = {f"÷ {t:g}": softmax_table(scores, [t])[0] for t in shown_at}
    title = "The smaller the number that divides the scores, the more the largest takes"
    alt = f"The softmax over {', '.join(map(shown, labels))} for scores divided by several temperatures."
    start = int(np.abs(temperatures - 1.0).argmin())
    return SoftmaxTemperature(payload, lambda: softmax_bars(few, labels, title), alt, place=start)


class AttentionExplorer(Explorer):
    """Where one token looks in one head: `head` and `query` are chosen by mouse or arrow keys."""

    _esm = script("attention_explorer")
    head = traitlets.Int(0).tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)


def attention_explorer(
    weights: ArrayLike, tokens: Sequence[str], head: int = 0, query: int = 0
) -> AttentionExplorer:
    """Look inside one layer: choose a head and a query, and see its weights on all keys.

    Parameters
    ----------
    weights : (H, T, T) array
        Head, query, key: one layer of one example.
    tokens : sequence of T strings
    head, query : int
        Where to begin; heads are counted from 0, as in the array.

    Returns
    -------
    AttentionExplorer
        Its `head` and `query` can be read and set.

    Raises
    ------
    ValueError
        If the shape does not fit the tokens, a weight is not in 0 … 1, or there is no such head or query.
    """
    payload = attention_payload(weights, tokens)
    n_heads = len(payload["weights"])
    if not (0 <= head < n_heads and 0 <= query < len(tokens)):
        raise ValueError(
            f"head={head}, query={query}: there are {n_heads} heads and {len(tokens)} tokens, from 0"
        )
    title = f"Head {head}: where each token looks"
    alt = f"Attention weights of head {head} over {' '.join(map(shown, tokens))}: rows look at columns."

    def still() -> Figure:
        return attention_map(as_array(weights)[head], tokens, tokens, title)

    return AttentionExplorer(payload, still, alt, head=head, query=query)
