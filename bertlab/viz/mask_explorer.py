"""Explorer of masks: draw who may attend to whom, and see the weights change."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.masked_attention import checked_mask, checked_scores, masked_attention, told
from bertlab.viz.style import shown
from bertlab.viz.widget import Widget, script

MOST_TOKENS = 32  # cells of more could not be hit


def ruled_mask(n_queries: int, n_keys: int, causal: bool, padding: int) -> np.ndarray:
    """The mask of the controls: the last `padding` keys hidden, and all later ones if `causal`.

    Parameters
    ----------
    n_queries, n_keys : int
    causal : bool
        A query looks at itself and at what stands before it.
    padding : int
        How many keys at the end are padding.

    Returns
    -------
    (n_queries, n_keys) bool array
        True = may be attended to.

    Examples
    --------
    >>> ruled_mask(3, 3, causal=True, padding=1).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    """
    real = np.arange(n_keys) < n_keys - padding
    before = np.tril(np.ones((n_queries, n_keys), dtype=bool))
    return np.asarray(before & real if causal else np.broadcast_to(real, before.shape))


class MaskExplorer(Widget):
    """A mask and the weights under it.

    Attributes
    ----------
    mask : list of lists of bool
        True = may be attended to. A boolean array can be given.
    causal : bool
    padding : int
        Setting one of the two makes the mask anew; what was drawn by hand stays.
    """

    _esm = script("mask_explorer")
    mask = traitlets.Any().tag(sync=True)
    causal = traitlets.Bool(False).tag(sync=True)
    padding = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        scores: np.ndarray,
        tokens: Sequence[str],
        key_tokens: Sequence[str] | None,
        mask: ArrayLike | None,
        **rule: Any,
    ) -> None:
        self.scores, self.tokens, self.is_self = scores, tokens, key_tokens is None
        self.key_tokens = tokens if key_tokens is None else key_tokens
        self._told = False  # whether the browser is telling: it sends the mask with the controls
        payload = {
            "queries": list(tokens),
            "keys": list(self.key_tokens),
            "self": self.is_self,
            "scores": scores.tolist(),
        }
        self._rule = rule  # what the mask was last made by
        super().__init__(payload, mask=self._ruled(**rule) if mask is None else mask, **rule)

    def _ruled(self, causal: bool, padding: int) -> list[list[bool]]:
        return [
            list(map(bool, row))
            for row in ruled_mask(len(self.tokens), len(self.key_tokens), causal, padding)
        ]

    @traitlets.validate("mask")
    def _check_mask(self, proposal: Any) -> list[list[bool]]:
        rows: list[list[bool]] = checked_mask(proposal["value"], self.scores.shape).tolist()
        return rows

    @traitlets.validate("padding")
    def _check_padding(self, proposal: Any) -> int:
        return check_padding(proposal["value"], len(self.key_tokens))

    @traitlets.validate("causal")
    def _check_causal(self, proposal: Any) -> bool:
        return check_causal(proposal["value"], self.is_self)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take over what the browser sends."""
        self._told = True
        try:
            super().set_state(sync_data)
        finally:
            self._told = False

    @traitlets.observe("causal", "padding")
    def _make_anew(self, _: Any) -> None:
        before, self._rule = self._rule, {"causal": self.causal, "padding": self.padding}
        if self.trait_has_value("mask") and not self._told:
            ruled, now = self._ruled(**before), self._ruled(**self._rule)
            by_hand = np.not_equal(self.mask, ruled)
            self.mask = np.where(by_hand, self.mask, now)

    def still(self) -> Figure:
        """The mask beside the weights."""
        return masked_attention(self.scores, self.mask, self.tokens, self.key_tokens)

    @property
    def alt(self) -> str:
        """The picture in words."""
        words = ", ".join(map(shown, self.tokens))
        return (
            f"A mask beside the attention weights under it, for the queries {words}: "
            f"{told(np.array(self.mask), self.tokens)}."
        )


def check_padding(padding: int, n_keys: int) -> int:
    """Give back `padding`, or raise ValueError if there are not so many keys."""
    if not 0 <= padding <= n_keys:
        raise ValueError(f"padding={padding}: of {n_keys} keys 0 to {n_keys} can be padding")
    return padding


def check_causal(causal: bool, is_self: bool) -> bool:
    """Give back `causal`, or raise ValueError if queries and keys are different sentences."""
    if causal and not is_self:
        raise ValueError("causal=True with key_tokens: only in self-attention do keys come after a query")
    return causal


def mask_explorer(
    scores: ArrayLike,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    causal: bool = False,
    padding: int = 0,
    mask: ArrayLike | None = None,
) -> MaskExplorer:
    """Draw a mask, and see at once what it makes of the attention weights.

    A slider hides the last keys as padding, a switch hides what comes after a query, and single cells are
    flipped by a click, by dragging, or with arrow keys and space. Drawing lies on top of the two controls: it
    is kept until one of them is moved. A row with nothing left gets zeros, and is marked.

    Parameters
    ----------
    scores : (Tq, Tk) array
        Of one head and one example, as they enter the softmax; at most 32 by 32.
    tokens : sequence of Tq strings
        The queries.
    key_tokens : sequence of Tk strings, optional
        By default the queries: self-attention. With keys of their own there is no causal switch.
    causal : bool
        Begin with what comes after a query hidden.
    padding : int
        Begin with so many keys at the end hidden.
    mask : (Tq, Tk) bool array, optional
        Begin with this mask instead; True = may be attended to.

    Returns
    -------
    MaskExplorer
        Its `mask`, `causal` and `padding` can be read and set.

    Raises
    ------
    ValueError
        If scores, tokens and mask do not fit, a score is not finite, the mask is not boolean, there are more
        than 32 tokens on a side, or `causal` or `padding` cannot be.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.3. Conventions of others: `torch.nn.functional.scaled_dot_product_attention`
    (True = may be attended to) and `torch.nn.MultiheadAttention` (True = hidden).
    """
    keys = tokens if key_tokens is None else key_tokens
    for name, given in (("tokens", tokens), ("key_tokens", keys)):
        if isinstance(given, str) or not 0 < len(given) <= MOST_TOKENS:
            raise ValueError(
                f"{name} are {len(given)} in number: give a list of 1 to {MOST_TOKENS} strings, since a mask "
                "is drawn cell by cell"
            )
    array = checked_scores(scores, len(tokens), len(keys))
    if mask is not None and (causal or padding):
        raise ValueError("a mask, and causal or padding beside it: give one of the two")
    return MaskExplorer(array, tokens, key_tokens, mask, causal=causal, padding=padding)
