"""Explorers of the seven steps and of the softmax: Python prepares and checks, the browser draws."""

from collections.abc import Mapping, Sequence

import numpy as np
import traitlets
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.distributions import softmax_bars
from bertlab.viz.payload import softmax_table, temperature_payload
from bertlab.viz.seven_steps import seven_steps
from bertlab.viz.style import shown
from bertlab.viz.trace import STEP_NAMES, DecodingTrace, decoding_payload
from bertlab.viz.widget import Widget, script


class DecodingSteps(Widget):
    """The seven steps by which each word of a translation comes about; `step` counts through all words."""

    _esm = script("decoding_steps")
    step = traitlets.Int(0).tag(sync=True)

    def __init__(self, trace: DecodingTrace, step: int) -> None:
        super().__init__(decoding_payload(trace), step=step)
        self.trace = trace

    def still(self) -> Figure:
        """The seven steps of the present word."""
        return seven_steps(self.trace, self.step // len(STEP_NAMES))

    @property
    def alt(self) -> str:
        """The picture in words."""
        position = self.step // len(STEP_NAMES)
        target, source = (
            list(map(shown, tokens)) for tokens in (self.trace.target_tokens, self.trace.source_tokens)
        )
        return (
            f"Seven steps by which “{target[position]}” is written, word {position + 1} of "
            f"“{' '.join(target)}”, from “{' '.join(source)}”."
        )


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
    return DecodingSteps(trace, step)


class SoftmaxTemperature(Widget):
    """A softmax whose temperature is moved by a slider; `place` counts the slider's places."""

    _esm = script("softmax_temperature")
    place = traitlets.Int(0).tag(sync=True)

    def __init__(self, scores: ArrayLike, labels: Sequence[str], marks: Mapping[str, float]) -> None:
        temperatures = np.union1d(np.geomspace(0.05, 50, 61), [1.0, *marks.values()])
        payload = temperature_payload(scores, labels, temperatures, marks)
        super().__init__(payload, place=int(np.abs(temperatures - 1.0).argmin()))
        self.scores, self.labels, self.marks = scores, labels, marks

    def still(self) -> Figure:
        """The softmax at the marks, and where it is sharp and flat."""
        marks = self.marks.values()
        shown_at = sorted({0.1, 1.0, *marks} | (set() if max(marks) > 3 else {10.0}))
        few = {f"÷ {t:g}": softmax_table(self.scores, [t])[0] for t in shown_at}
        title = "The smaller the number that divides the scores, the more the largest takes"
        return softmax_bars(few, self.labels, title)

    @property
    def alt(self) -> str:
        """The picture in words."""
        labels = ", ".join(map(shown, self.labels))
        return f"The softmax over {labels} for scores divided by several temperatures."


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
    return SoftmaxTemperature(scores, labels, {"temperature 1": 1.0} if marks is None else dict(marks))
