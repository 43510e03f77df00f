"""What a head does, in a few numbers: to whom its weight goes, and over how many tokens it spreads."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bertlab.viz.attentions import AttentionLayers
from bertlab.viz.style import shown
from bertlab.viz.word_pieces import is_special

PADDING = ("[PAD]", "<pad>")
SPREAD = "spread"  # name of the one order that is by entropy, not by a share
N_MARKED = 5
LEAST_SHARE = 0.1  # a head that gives less of its weight to a pattern is not marked for it
ONE_TOKEN = "one token"  # name of the pattern whose key differs from head to head
CLEAR = 2.0  # a pattern is told where its odds are so many times those of an even row


class Pattern(NamedTuple):
    """Keys that a query may look at, wherever it stands."""

    name: str  # short, for a button: "previous"
    keys: str  # in a sentence: "the token before"


class HeadSummary(NamedTuple):
    """All heads of one set of layers in numbers."""

    patterns: list[Pattern]
    shares: list[np.ndarray]  # for each layer (H, P): part of the weight that goes to each pattern
    bits: list[np.ndarray]  # for each layer (H,): mean entropy of a row
    even: np.ndarray  # (P,): the share of each pattern if all rows were even
    columns: list[np.ndarray]  # for each layer (H,): position of the token that ONE_TOKEN stands for
    keys: tuple[str, ...]  # the tokens that are looked at


def summarise(layers: AttentionLayers) -> HeadSummary:
    """Average over the queries of each head: how much weight goes to each pattern, and the entropy of a row.

    The patterns are: the query's own token, the one before and the one after (in self-attention), the first
    token, all other special tokens, the other sentence of a pair, and one token: of those that are neither
    special nor the first, the one with most weight from all queries. Padding counts on neither side.

    Parameters
    ----------
    layers : AttentionLayers

    Returns
    -------
    HeadSummary
        Shares between 0 and 1, entropies in bits. Kinds overlap, so that shares need not add up to 1: with
        the query “[CLS]”, its own token is also the first.

    References
    ----------
    Clark et al. 2019, What Does BERT Look At?, sec. 3.
    """
    queries, keys = _real(layers.query_tokens), layers.key_tokens or ()
    chosen, content = _places(layers), ~_special(keys)
    content[:1] = False  # the first token is a pattern of its own
    patterns = [pattern for pattern, _ in chosen]
    shares = [_shares(layer, queries, chosen) for layer in layers.weights]
    even = _even(layers, queries, chosen)
    columns = [np.zeros(len(layer), dtype=int) for layer in layers.weights]
    if content.any():
        means = [layer[:, queries].mean(axis=1) * content for layer in layers.weights]  # (H, Tk) each
        columns = [mean.argmax(axis=1) for mean in means]
        shares = [
            np.column_stack([known, mean.max(axis=1)]) for known, mean in zip(shares, means, strict=True)
        ]
        patterns.append(Pattern(ONE_TOKEN, "one token that all look at"))
        even = np.append(even, 1 / _real(keys).sum())
    bits = [np.array([_mean_entropy(head[queries]) for head in layer]) for layer in layers.weights]
    return HeadSummary(patterns, shares, bits, even, columns, tuple(keys))


def _real(tokens: Sequence[str]) -> np.ndarray:
    """Which tokens are no padding; all, if there is nothing else."""
    real = np.array([token not in PADDING for token in tokens])
    return real if real.any() else ~real


def _special(tokens: Sequence[str]) -> np.ndarray:
    return np.array([is_special(token) for token in tokens])


def _even(
    layers: AttentionLayers, queries: np.ndarray, chosen: Sequence[tuple[Pattern, "Places"]]
) -> np.ndarray:
    """What each pattern gets from a head that looks at all tokens alike."""
    real = _real(layers.key_tokens or ())
    return np.asarray(_shares(np.tile(real / real.sum(), (1, len(queries), 1)), queries, chosen)[0])


Places = int | np.ndarray  # a diagonal; or, for each group of queries, which keys: see _share


def _places(layers: AttentionLayers) -> list[tuple[Pattern, Places]]:
    """The patterns that there can be among these tokens, and where they lie."""
    keys = layers.key_tokens or ()
    special = _special(keys)
    found: list[tuple[Pattern, Places]] = []
    if not layers.is_cross:
        found.append((Pattern("itself", "the token itself"), 0))
    if not layers.is_cross and len(keys) > 1:
        found += [(Pattern("previous", "the token before"), -1), (Pattern("next", "the token after"), 1)]
    first = np.arange(len(keys)) == 0
    name = shown(keys[0]) if special[0] else "first token"
    found.append((Pattern(name, name if special[0] else "the first token"), first))
    others = special & ~first & np.array([key not in PADDING for key in keys])
    if others.any():
        names = {key for key, other in zip(keys, others, strict=True) if other}
        name = shown(names.pop()) if len(names) == 1 and not names & {keys[0]} else "other special"
        words = name if name != "other special" else "the other special tokens"
        found.append((Pattern(name, words), others))
    if layers.sentence_b is not None:
        in_b = np.arange(len(keys)) >= layers.sentence_b
        across = (in_b[:, None] != in_b) & ~special  # (Tq, Tk)
        found.append((Pattern("other sentence", "words of the other sentence"), across))
    return found


def _shares(layer: np.ndarray, queries: np.ndarray, chosen: Sequence[tuple[Pattern, Places]]) -> np.ndarray:
    return np.stack([_share(layer, queries, places) for _, places in chosen], axis=1)


def _share(layer: np.ndarray, queries: np.ndarray, places: Places) -> np.ndarray:
    """Mean over the queries of what each head (H, Tq, Tk) gives to some keys.

    `places` is a diagonal (queries without such a neighbour do not count), or keys (Tk,), or (Tq, Tk).
    """
    if isinstance(places, int):
        on_diagonal = np.diagonal(layer, places, axis1=1, axis2=2)  # (H, Tq - |places|)
        counted = queries[max(0, -places) : len(queries) - max(0, places)]
        return np.asarray(on_diagonal[:, counted].mean(axis=1) if counted.any() else np.zeros(len(layer)))
    if places.ndim == 1:
        return np.asarray(layer[:, :, places].sum(axis=2)[:, queries].mean(axis=1))
    return np.array([(head * places).sum(axis=1)[queries].mean() for head in layer])


def _mean_entropy(rows: np.ndarray) -> float:
    """In bits, in the precision of `rows`: as `payload.entropy`, but for millions of weights."""
    logs = np.log2(np.maximum(rows, np.finfo(rows.dtype).tiny))
    return abs(float(np.einsum("qk,qk->", rows, logs, dtype=np.float64) / len(rows)))


def in_words(summary: HeadSummary, layer: int, head: int) -> str:
    """What one head does, in a sentence or two.

    >>> layers = AttentionLayers(np.eye(3, k=-1), ["[CLS]", "a", "b"])
    >>> print(in_words(summarise(layers), 0, 0))
    Practically all of its weight goes to the token before. A row spreads as if evenly over 1.0 tokens
    (0.00 bits).
    """
    shares, bits = summary.shares[layer][head], summary.bits[layer][head]
    clear = [i for i, share in enumerate(shares) if _is_clear(share, summary.even[i])]
    if not clear:
        where = "No clear pattern: no kind of place gets much more than an even row would give it."
    else:
        best = max(clear, key=lambda i: shares[i])
        keys, part = _keys(summary, best, layer, head), percent(shares[best])
        if shares[best] >= 0.995:
            where = f"Practically all of its weight goes to {keys}."
        elif shares[best] >= 0.5:
            where = f"Most of its weight, {part}, goes to {keys}."
        else:
            chance = percent(summary.even[best])
            where = f"{part} of its weight goes to {keys}; an even row would give {chance}."
    return f"{where} A row spreads as if evenly over {2**bits:.1f} tokens ({bits:.2f} bits)."


def _is_clear(share: float, even: float) -> bool:
    """Whether a share is worth telling: not small, and well above chance, also where chance gives much."""
    return share >= LEAST_SHARE and share * (1 - even) >= CLEAR * even * (1 - share)


def _keys(summary: HeadSummary, pattern: int, layer: int, head: int) -> str:
    """A pattern in a sentence; the one token by name, isolated so that it turns nothing around it."""
    if summary.patterns[pattern].name != ONE_TOKEN:
        return summary.patterns[pattern].keys
    column = int(summary.columns[layer][head])
    name = shown(summary.keys[column])
    name = name if len(name) <= 24 else name[:23] + "…"
    return f"one token, “\u2068{name}\u2069” (position {column})"


def percent(share: float) -> str:
    """0.716 as 72 %."""
    return f"{100 * share:.0f} %"


def strongest(summary: HeadSummary, name: str, most: int = N_MARKED) -> list[tuple[int, int, str]]:
    """Layer, head and value of the heads that do most of something, the first first.

    Parameters
    ----------
    summary : HeadSummary
    name : str
        Of a pattern, or "spread": those whose rows have the largest entropy.
    most : int
        How many at most; a head that gives less than a tenth of its weight to a pattern is never among them.

    Raises
    ------
    ValueError
        If there is no such pattern.
    """
    names = [pattern.name for pattern in summary.patterns]
    if name not in (*names, SPREAD):
        raise ValueError(f"mark={name!r}: heads can be marked by {', '.join([*names, SPREAD])}")
    number = names.index(name) if name != SPREAD else 0
    values = summary.bits if name == SPREAD else [layer[:, number] for layer in summary.shares]
    ranked = sorted(
        (
            (float(value), layer, head)
            for layer, heads in enumerate(values)
            for head, value in enumerate(heads)
        ),
        key=lambda place: (-place[0], *place[1:]),
    )
    if name == SPREAD:
        return [(layer, head, f"{bits:.2f} bits") for bits, layer, head in ranked[:most]]
    return [(layer, head, percent(share)) for share, layer, head in ranked[:most] if share >= LEAST_SHARE]
