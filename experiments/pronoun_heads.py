"""Does a head look from a pronoun at the person it stands for?

GAP has snippets of Wikipedia with a pronoun and two names, of which it means one. For each of the 72 heads of
all-MiniLM-L6-v2 we ask which of the two names it looks at more from the pronoun (at the piece of each name it
looks at most). Every second snippet serves to choose the best head, the others to test it. Beside it: the
name that is nearer, the name that comes first, and the same network before any training.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from _minilm import N_HEADS, MiniLM
from _search import interval
from bertlab import datasets
from bertlab.nn.bert import begin
from bertlab.text.wordpiece import Encoding
from bertlab.training import save_result

NAME = "pronoun_heads"
QUESTION = "Does a head look from a pronoun more at the person it stands for than at another?"


class Snippet(NamedTuple):
    """A pronoun and two names, each by where it begins and ends, in characters."""

    text: str
    pronoun: tuple[int, int]
    names: tuple[tuple[int, int], tuple[int, int]]
    right: int  # which of the two it means


def snippets() -> list[Snippet]:
    """Load those in which the pronoun means one of the two names."""
    lines = datasets.load("gap").text("gap-validation.tsv").splitlines()
    found = list[Snippet]()
    for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        means = [row[f"{name}-coref"].lower() == "true" for name in "AB"]
        if sum(means) == 1:
            starts = [int(row[f"{what}-offset"]) for what in ("Pronoun", "A", "B")]
            lengths = [len(row[what]) for what in ("Pronoun", "A", "B")]
            pronoun, a, b = ((start, start + n) for start, n in zip(starts, lengths, strict=True))
            found.append(Snippet(row["Text"], pronoun, (a, b), means.index(True)))
    return found


def pieces(encoding: Encoding, span: tuple[int, int]) -> list[int]:
    """Positions, [CLS] counted, of the pieces that lie in a span."""
    start, end = span
    return [i for i, (a, b) in enumerate(encoding.offsets, 1) if a < end and b > start]


@torch.no_grad()
def looks_right(model: MiniLM, asked: Sequence[Snippet]) -> Tensor:
    """Whether each head looks more at the right name: (n, L * H) bool."""
    vocab, found = model.tokenizer, list[Tensor]()
    for one in asked:
        encoding = vocab.encode(one.text)
        ids = torch.tensor([[vocab.cls_id, *encoding.ids, vocab.sep_id]])
        weights = model.bert(ids, need_weights=True).weights
        assert weights is not None
        looks = torch.stack(weights)[:, 0, :, pieces(encoding, one.pronoun)].mean(2)  # (L, H, T)
        at = [looks[..., pieces(encoding, name)].amax(-1).ravel() for name in one.names]  # (L * H,) each
        found.append(at[one.right] > at[1 - one.right])
    return torch.stack(found)


def guesses(asked: Sequence[Snippet]) -> dict[str, Tensor]:
    """Whether rules without a network are right: (n,) bool each."""

    def far(one: Snippet) -> list[int]:
        return [abs(start - one.pronoun[0]) for start, _ in one.names]

    nearer = [far(one).index(min(far(one))) == one.right for one in asked]
    first = [one.names.index(min(one.names)) == one.right for one in asked]
    return {"the nearer name": torch.tensor(nearer), "the first name": torch.tensor(first)}


def judged(right: Tensor) -> dict[str, Any]:
    """Share of True in %, with its 95 % interval over the snippets."""
    numbers = 100 * right.double()
    return {"right": round(numbers.mean().item(), 2), "interval": interval(numbers, torch.arange(len(right)))}


def chosen(right: Tensor) -> dict[str, Any]:
    """Choose a head by every second snippet, and judge it by the others."""
    choose, test = right[::2], right[1::2]
    best = int(choose.double().mean(0).argmax())
    every = (100 * test.double().mean(0)).view(-1, N_HEADS)
    return {
        "head": [best // N_HEADS, best % N_HEADS],
        "when choosing": round(100 * choose[:, best].double().mean().item(), 2),
        **judged(test[:, best]),
        "every head": [[round(share, 2) for share in layer] for layer in every.tolist()],
    }


def main() -> None:
    """Measure all heads, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    model, asked = MiniLM(), snippets()
    right, rules = looks_right(model, asked), guesses(asked)
    trained = chosen(right)
    layer, head = trained["head"]
    gain = right[1::2, layer * N_HEADS + head].double() - rules["the nearer name"][1::2].double()
    trained["more than the nearer name"] = {
        "points": round(100 * gain.mean().item(), 2),
        "interval": interval(100 * gain, torch.arange(len(gain))),
    }
    torch.manual_seed(0)
    model.bert.apply(begin)
    results = {
        "trained": trained,
        "before training": chosen(looks_right(model, asked)),
        "rules": {name: judged(hits[1::2]) for name, hits in rules.items()},
        "snippets": {"choose": len(asked[::2]), "test": len(asked[1::2])},
    }
    save_result(NAME, QUESTION, results, seconds=time.process_time() - start)


if __name__ == "__main__":
    main()
