"""Explorer of BERT's masking: draw again and again, and count."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from bertlab.viz.masked_tokens import (
    KINDS,
    MASK,
    SHARES,
    Masked,
    at_least_one,
    check_rate,
    check_shares,
    chosen_kinds,
    counts,
    maskable,
    masked,
    masked_tokens,
    n_chosen,
    random_words,
)
from bertlab.viz.payload import check_index
from bertlab.viz.style import shown
from bertlab.viz.widget import Widget, script
from bertlab.viz.word_pieces import SPECIAL

HIGHEST_RATE = 0.8  # of the slider
MOST_TOKENS = 512


class MaskingExplorer(Widget):
    """What BERT reads in pre-training, for many draws of chance.

    Attributes
    ----------
    draw : int
        Which draw is shown.
    rate : float
        The share of tokens that are chosen, from 0 to 0.8.
    shares : sequence of three floats
        Of the chosen: replaced by [MASK], by a random word, unchanged.
    """

    _esm = script("masking_explorer")
    draw = traitlets.Int(0).tag(sync=True)
    rate = traitlets.Float(0.15).tag(sync=True)
    shares = traitlets.Any(list(SHARES)).tag(sync=True)

    def __init__(
        self,
        tokens: Sequence[str],
        vocabulary: Sequence[str],
        uniforms: np.ndarray,
        special: Collection[str],
        mask_token: str,
        **state: Any,
    ) -> None:
        self.tokens, self.uniforms = list(tokens), uniforms
        self.vocabulary = random_words(vocabulary, special, mask_token)
        self.special, self.mask_token = special, mask_token
        self.free = maskable(tokens, special)
        payload = {
            "tokens": self.tokens,
            "free": self.free.tolist(),
            "vocabulary": self.vocabulary,
            "mask": mask_token,
            "draws": len(uniforms),
            "last_rate": round(100 * HIGHEST_RATE),
        }
        super().__init__(payload, **state)

    @traitlets.validate("draw")
    def _check_draw(self, proposal: Any) -> int:
        return check_index("draw", proposal["value"], len(self.uniforms))

    @traitlets.validate("rate")
    def _check_rate(self, proposal: Any) -> float:
        if check_rate(proposal["value"]) > HIGHEST_RATE:
            raise ValueError(f"rate={proposal['value']}: the slider ends at {HIGHEST_RATE}")
        return float(proposal["value"])

    @traitlets.validate("shares")
    def _check_shares(self, proposal: Any) -> list[float]:
        return list(check_shares(proposal["value"]))

    def chunk_names(self) -> list[str]:
        """The chances of all draws are sent apart from the rest."""
        return ["uniforms"]

    def chunk(self, name: str) -> list[bytes]:
        """The uniforms as float32, draw by draw, token by token."""
        if name != "uniforms":
            raise KeyError(name)
        return [self.uniforms.astype("<f4").tobytes()]

    def _counted(self) -> str:
        kinds = chosen_kinds(self.uniforms[: self.draw + 1], self.free, self.rate, self.shares)
        _, found = counts(kinds, self.free)
        n_free = int(self.free.sum())
        n = n_chosen(self.rate, n_free)
        why = (
            "at least one always is"
            if at_least_one(self.rate, n_free)
            else f"{100 * self.rate:.3g} % rounded"
        )
        so = f"{n} of {n_free} tokens ({100 * n / n_free:.1f} %) chosen, {why}"
        of_kind = ", ".join(f"{100 * share:.0f} % {name}" for share, name in zip(found, KINDS, strict=True))
        wanted = ", ".join(f"{100 * share:g}" for share in self.shares)
        draws = f"Draws 1 to {self.draw + 1}: in each" if self.draw else "This draw:"
        return f"{draws} {so}; of these {of_kind} (expected {wanted})"

    def still(self) -> Figure:
        """The present draw, and the counts so far."""
        now = self._masked()
        title = "The model must predict what was chosen, even if unchanged; elsewhere there is no loss"
        return masked_tokens(self.tokens, now.read, now.kinds, title, self._counted())

    def _masked(self) -> Masked:
        draw = self.uniforms[self.draw]
        return masked(
            self.tokens, draw, self.rate, self.shares, self.vocabulary, self.special, self.mask_token
        )

    @property
    def alt(self) -> str:
        """The picture in words."""
        now = self._masked()
        chosen = [i for i, kind in enumerate(now.kinds) if kind >= 0]
        told = ", ".join(f"“{shown(self.tokens[i])}” read as “{shown(now.read[i])}”" for i in chosen[:12])
        more = f", and {len(chosen) - 12} more" if len(chosen) > 12 else ""
        return (
            f"Draw {self.draw + 1} of a masked sentence of {len(self.tokens)} tokens, {len(chosen)} of them "
            f"chosen to be predicted: {told}{more}."
        )


def masking_explorer(
    tokens: Sequence[str],
    vocabulary: Sequence[str],
    *,
    rng: np.random.Generator,
    rate: float = 0.15,
    shares: Sequence[float] = SHARES,
    special: Collection[str] = SPECIAL,
    mask_token: str = MASK,
    draws: int = 200,
) -> MaskingExplorer:
    """Draw BERT's masked input of a sentence again and again, at any rate, and count what comes out.

    All chance comes from `rng`, at once: a higher rate only adds tokens to those that are chosen.

    Parameters
    ----------
    tokens : sequence of strings
        At most 512.
    vocabulary : sequence of strings
        Where random words come from; special ones are left out.
    rng : numpy Generator
    rate : float
        The share of tokens to choose, from 0 to 0.8; at least one is chosen.
    shares : three floats
        Of the chosen: replaced by [MASK], by a random word, unchanged; they sum to 1.
    special : collection of strings
        Never chosen.
    mask_token : str
    draws : int
        How many draws there are.

    Returns
    -------
    MaskingExplorer
        Its `draw`, `rate` and `shares` can be read and set.

    Raises
    ------
    ValueError
        If there are no tokens or more than 512, no plain word in the vocabulary, no draw, all tokens are
        special, or `rate` or `shares` cannot be.

    References
    ----------
    Devlin et al. 2019, sec. 3.1 and appendix A.1.
    """
    if isinstance(tokens, str) or not 0 < len(tokens) <= MOST_TOKENS:
        raise ValueError(f"{len(tokens)} tokens: give a list of 1 to {MOST_TOKENS} strings")
    if draws < 1:
        raise ValueError(f"draws={draws}: give at least 1")
    uniforms = rng.random((draws, len(tokens), 3), dtype=np.float32)
    state = {"rate": rate, "shares": list(check_shares(shares))}
    return MaskingExplorer(tokens, vocabulary, uniforms, special, mask_token, **state)
