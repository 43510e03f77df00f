"""The head view: who looks at whom, as lines between two columns of tokens, a colour a head."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from bertlab.viz.attentions import AttentionLayers, attention_sets
from bertlab.viz.head_lines import lines_between
from bertlab.viz.head_selection import SENTENCES, Rows, both_columns, shown_weights
from bertlab.viz.head_words import between_said, chosen_said, heads_said, hidden_said, strongest_said
from bertlab.viz.style import shown
from bertlab.viz.views import AttentionView, check_place
from bertlab.viz.widget import script


class HeadView(AttentionView):
    """Lines from tokens that look to tokens looked at. All that the reader chooses can be read and set here.

    Attributes
    ----------
    set_number : int
        Which of several sets of layers is shown, in the order in which they were given.
    layer : int
    heads : list of int
        The heads that are on. A layer that has fewer heads shows those it has.
    queries, looked_at : list of int
        Positions of chosen tokens on the left and on the right. Only one side has any: choosing on one gives
        up what was chosen on the other.
    threshold : float
        Lines of less weight are not drawn; numbers do not change.
    top_k : int
        Only so many weights of each query count, the largest of each head; 0 for all.
    merge_words, hide_special : bool
    sentences : str
        "all", or "AA", "AB", "BA", "BB": only from that sentence of a pair, to that one.
    """

    _esm = script("head_view")
    set_number = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    heads = traitlets.List(traitlets.Int()).tag(sync=True)
    queries = traitlets.List(traitlets.Int()).tag(sync=True)
    looked_at = traitlets.List(traitlets.Int()).tag(sync=True)
    threshold = traitlets.Float(0.02).tag(sync=True)
    top_k = traitlets.Int(0).tag(sync=True)
    merge_words = traitlets.Bool(False).tag(sync=True)
    hide_special = traitlets.Bool(False).tag(sync=True)
    sentences = traitlets.Unicode("all").tag(sync=True)

    def __init__(self, sets: dict[str, AttentionLayers], **state: Any) -> None:
        self.most_heads = max(max(layers.heads) for layers in sets.values())
        if state.get("queries") and state.get("looked_at"):
            raise ValueError("queries and looked_at are both given: choose tokens on one side")
        if state.get("heads") is None:
            state["heads"] = list(range(self.most_heads))
        super().__init__(sets, {"most_heads": self.most_heads}, **state)
        self.observe(self._other_set, "set_number")
        self.observe(lambda _: self._one_side("queries", "looked_at"), "queries")
        self.observe(lambda _: self._one_side("looked_at", "queries"), "looked_at")

    @property
    def _shown(self) -> AttentionLayers:
        return self.layers(self._present(self.set_number))

    def _present(self, set_number: int) -> int:
        if not 0 <= set_number < len(self.sets):
            raise ValueError(f"set_number={set_number}: there are {len(self.sets)} sets, from 0")
        return set_number

    def _other_set(self, _: Any) -> None:
        """Other tokens: what was chosen means nothing any more. There may be fewer layers, too."""
        with self.hold_trait_notifications():
            self.queries, self.looked_at = [], []
            self.layer = min(self.layer, len(self._shown.heads) - 1)
            if self._shown.sentence_b is None:
                self.sentences = "all"

    def _one_side(self, changed: str, other: str) -> None:
        if getattr(self, changed) and getattr(self, other):
            setattr(self, other, [])

    @traitlets.validate("set_number")
    def _check_set(self, proposal: Any) -> int:
        return self._present(int(proposal.value))

    @traitlets.validate("layer")
    def _check_layer(self, proposal: Any) -> int:
        check_place(self.sets, self._present(self.set_number), proposal.value)
        return int(proposal.value)

    @traitlets.validate("heads", "queries", "looked_at")
    def _check_numbers(self, proposal: Any) -> list[int]:
        queries, keys = self._shown.query_tokens, self._shown.key_tokens or ()
        n = {"heads": self.most_heads, "queries": len(queries), "looked_at": len(keys)}[proposal.trait.name]
        wrong = [number for number in proposal.value if not 0 <= number < n]
        if wrong:
            what = "heads" if proposal.trait.name == "heads" else "tokens there"
            raise ValueError(f"{proposal.trait.name} has {wrong[0]}: there are {n} {what}, from 0")
        return sorted(set(proposal.value))

    @traitlets.validate("threshold")
    def _check_threshold(self, proposal: Any) -> float:
        if not 0 <= proposal.value <= 1:
            raise ValueError(f"threshold={proposal.value}: weights lie between 0 and 1")
        return float(proposal.value)

    @traitlets.validate("top_k")
    def _check_top_k(self, proposal: Any) -> int:
        if proposal.value < 0:
            raise ValueError(
                f"top_k={proposal.value}: give how many weights of a query to keep, or 0 for all"
            )
        return int(proposal.value)

    @traitlets.validate("sentences")
    def _check_sentences(self, proposal: Any) -> str:
        if proposal.value not in SENTENCES:
            raise ValueError(f"sentences={proposal.value!r}: give one of {', '.join(SENTENCES)}")
        if proposal.value != "all" and self._shown.sentence_b is None:
            raise ValueError(
                f"sentences={proposal.value!r}: say by sentence_b where the second sentence begins"
            )
        return str(proposal.value)

    # ---------------------------------------------------------------------------------- still picture

    @property
    def _columns(self) -> tuple[Rows, Rows]:
        return both_columns(self._shown, self.merge_words, self.hide_special, self.sentences)

    @property
    def _heads_on(self) -> list[int]:
        return [head for head in self.heads if head < self._shown.heads[self.layer]]

    def _between(self) -> np.ndarray:
        """Weights of the present layer between what is shown, (H, rows, rows); 0 for heads that are off."""
        queries, keys = self._columns
        off = np.zeros((len(queries.labels), len(keys.labels)))
        return np.stack(
            [
                shown_weights(weights, queries, keys, self.top_k) if head in self._heads_on else off
                for head, weights in enumerate(self._shown.weights[self.layer])
            ]
        )

    def still(self) -> Figure:
        """The present state; of a long sentence, what is around the chosen tokens."""
        queries, keys = self._columns
        chosen = queries.of(self.queries), keys.of(self.looked_at)
        title = f"{self._place()}: {self._told(*chosen)}"
        return lines_between(
            self._between(), (queries, keys), title, self._heads_on, chosen, self.threshold, self._note()
        )

    @property
    def alt(self) -> str:
        """The picture in words."""
        queries, keys = self._columns
        chosen = queries.of(self.queries), keys.of(self.looked_at)
        told = f"{self._place()}, {heads_said(self._heads_on)}: {self._told(*chosen)}"
        lines = f"Lines {between_said(queries.labels, keys.labels)}, stronger for more weight"
        if not any(chosen) or not self._heads_on:
            return " ".join([f"{told}. {lines}.", *self._hidden()])
        mean = self._between()[self._heads_on].mean(axis=0)
        return f"{told}. {lines}{strongest_said(mean, queries.names, keys.names, *chosen)}."

    def _place(self) -> str:
        name = shown(list(self.sets)[self.set_number]) if len(self.sets) > 1 else ""
        return f"{name}, layer {self.layer}" if name else f"Layer {self.layer}"

    def _told(self, queries: list[int], looked_at: list[int]) -> str:
        unit = "word" if self.merge_words else "token"
        columns = self._columns
        return chosen_said(columns[0].names, columns[1].names, queries, looked_at, unit)

    def _hidden(self) -> list[str]:
        """That chosen tokens have been filtered away."""
        every, said = both_columns(self._shown, self.merge_words), []
        for side, positions in enumerate((self.queries, self.looked_at)):
            here = {group[0] for group in self._columns[side].groups}
            lost = [row for row in every[side].of(positions) if every[side].groups[row][0] not in here]
            wanted = None if self.sentences == "all" else self.sentences[side]
            b = self._shown.sentence_b or 0
            away = [row for row in lost if wanted not in (None, "AB"[every[side].groups[row][0] >= b])]
            if wanted and away:
                said.append(hidden_said([every[side].names[row] for row in away], side, wanted))
            said += [
                f"{every[side].names[row]} is a special token and hidden." for row in lost if row not in away
            ]
        return said

    def _note(self) -> str:
        said = [
            *self._hidden(),
            f"{heads_said(self._heads_on).capitalize()} of {self._shown.heads[self.layer]}.",
        ]
        if self.sentences != "all":
            said.append(f"Only from sentence {self.sentences[0]} to sentence {self.sentences[1]}.")
        if self.merge_words:
            said.append("To a word counts the sum over its pieces, from a word the mean.")
        if self.hide_special:
            said.append("Special tokens are hidden; their weight is not given to others.")
        if self.top_k:
            kept = f"{self.top_k} largest weights" if self.top_k > 1 else "largest weight"
            count = "count" if self.top_k > 1 else "counts"
            said.append(f"Only the {kept} of each query and head {count}; in the numbers, too, others are 0.")
        return " ".join(said)


def head_view(
    attentions: Any,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    sentence_b: int | None = None,
    set_number: int = 0,
    layer: int = 0,
    heads: Sequence[int] | None = None,
    queries: Sequence[int] = (),
    looked_at: Sequence[int] = (),
    threshold: float = 0.02,
    top_k: int = 0,
    merge_words: bool = False,
    hide_special: bool = False,
    sentences: str = "all",
) -> HeadView:
    """Who looks at whom: two columns of tokens and lines between them, a colour a head, by weight.

    Point at a token to see its lines alone, and what each head gives to every token of the other column;
    click it (or press Enter) to fix it, several to see their sum. Escape lets go. A head is turned on and off
    by its number; a double click (or Shift+Enter) shows it alone.

    Parameters
    ----------
    attentions : sequence of L arrays or tensors of shape (1, H, Tq, Tk) or (H, Tq, Tk)
        As in `outputs.attentions` of transformers. Or AttentionLayers, or a mapping of name to
        AttentionLayers, e.g. for the encoder, the decoder and the cross-attention of a model.
    tokens : sequence of Tq strings
        The words of the queries, and of the keys if these are not given. AttentionLayers bring their own.
    key_tokens : sequence of Tk strings, optional
        In cross-attention, the words of the keys.
    sentence_b : int, optional
        Position of the first token of the second sentence of a pair: then one can look from one to the other.
    set_number : int
        Which of several sets is shown first.
    layer : int
        Counted from 0, as heads are.
    heads : sequence of int, optional
        Heads that are on; by default all.
    queries, looked_at : sequence of int
        Positions of tokens that are fixed on the left, or else on the right.
    threshold : float
        Lines of less weight are not drawn.
    top_k : int
        Count only so many weights of each query, the largest of each head; 0 for all.
    merge_words : bool
        Show words instead of their pieces: to a word the sum over its pieces, from a word the mean.
    hide_special : bool
        Leave out [CLS], [SEP] and their like. The other weights stay as they are.
    sentences : {"all", "AA", "AB", "BA", "BB"}
        From which sentence of a pair, to which.

    Returns
    -------
    HeadView
        All that can be chosen can be read and set: `view.layer = 3`.

    Raises
    ------
    ValueError
        If weights and tokens do not fit, or there is no such layer, head, token, set or sentence.

    Examples
    --------
    >>> import numpy as np
    >>> view = head_view(np.eye(3)[None], ["a", "b", "c"], queries=[1])
    >>> view.alt
    'Layer 0, head 0: where “b” looks. Lines within “a b c”, stronger for more weight; most to “b”.'
    """
    return HeadView(
        attention_sets(attentions, tokens, key_tokens, sentence_b), set_number=set_number, layer=layer,
        heads=heads if heads is None else list(heads), queries=list(queries), looked_at=list(looked_at),
        threshold=threshold, top_k=top_k, merge_words=merge_words, hide_special=hide_special,
        sentences=sentences,
    )  # fmt: skip
