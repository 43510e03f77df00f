"""In which layers has the nearest occurrence of the same word the same sense?

People have marked which sense a word has in many sentences. No weight is trained here: each occurrence of the
test part looks for the one of the training part whose state is nearest (by cosine), and is right if both have
one sense. Counted after each layer of all-MiniLM-L6-v2 and of the same network before any training; beside
them, what the words around tell without any network (nearest by the mean of their embeddings), and how often
the more frequent sense is right.

Two sets: homographs of Wikipedia, whose senses differ in part of speech or do not; and CoarseWSD-20 (nouns).
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

import _homographs
from _homographs import BATCH, Sentence, told_by_syntax
from _minilm import MiniLM
from _search import interval
from bertlab import datasets
from bertlab.nn.bert import begin
from bertlab.nn.masking import padding_mask
from bertlab.text import WordPiece
from bertlab.training import run_arms, save_result

NAME = "sense_layers"
QUESTION = "In which layers has the nearest occurrence of the same word the same sense?"
SETS = ("wikipedia-homographs", "coarsewsd-20")
WEIGHTS = ("trained", "before training")
NOUNS = ("apple", "bank", "bass", "crane", "mole", "seal", "spring", "square")
MOST_PIECES = 128
MOST = {"train": 40, "test": 100}  # occurrences of a word


def occurrences(name: str, vocab: WordPiece, split: str) -> list[Sentence]:
    """Load the occurrences of one of the sets; of each word at most `MOST`, drawn once."""
    if name == "wikipedia-homographs":
        found = list(_homographs.sentences(vocab, "eval" if split == "test" else split, MOST_PIECES))
    else:
        found = [one for word in NOUNS for one in coarse(vocab, word, split)]
    chosen = list[Sentence]()
    for word in dict.fromkeys(one.word for one in found):
        mine = [one for one in found if one.word == word]
        chosen += random.Random(0).sample(mine, min(MOST[split], len(mine)))
    return chosen


def coarse(vocab: WordPiece, word: str, split: str) -> list[Sentence]:
    """Read one word of CoarseWSD-20; a line names the place of its token, senses stand in another file."""
    files = datasets.load("coarsewsd-20")
    lines, gold = (files.lines(f"{word}/{split}.{kind}.txt") for kind in ("data", "gold"))
    senses = json.loads(files.text(f"{word}/classes_map.txt"))
    found = list[Sentence]()
    for line, sense in zip(lines, gold, strict=True):
        place, text = line.split("\t")
        tokens = text.split(" ")
        start = sum(len(token) + 1 for token in tokens[: int(place)])
        start += max(tokens[int(place)].find(word), 0)
        encoding = vocab.encode(text)
        mine = [i for i, (a, b) in enumerate(encoding.offsets, 1) if a < start + len(word) and b > start]
        ids = [vocab.cls_id, *encoding.ids[: MOST_PIECES - 2], vocab.sep_id]
        if mine[-1] < MOST_PIECES - 1:
            found.append(Sentence(word, senses[sense], ids, slice(mine[0], mine[-1] + 1)))
    return found


@torch.no_grad()
def states(
    model: MiniLM, found: Sequence[Sentence], mask_of: Callable[[Tensor], Tensor] = padding_mask
) -> tuple[Tensor, Tensor]:
    """Read all sentences.

    Parameters
    ----------
    model, found : the network, and what it reads.
    mask_of : makes the mask of a batch of ids.

    Returns
    -------
    layers : (L + 1, n, D), what each layer says of the word, the mean over its pieces.
    around : (n, D), the mean of the embeddings of all other pieces, without their positions.
    """
    table = model.bert.embeddings.token.weight
    rows, around = (list[Tensor]([torch.empty(0)] * len(found)) for _ in range(2))
    order = sorted(range(len(found)), key=lambda i: len(found[i].ids))
    for first in range(0, len(order), BATCH):
        some = order[first : first + BATCH]
        ids = pad_sequence([torch.tensor(found[i].ids) for i in some], batch_first=True)
        layers = torch.stack(model.bert(ids, mask=mask_of(ids)).layers)  # (L + 1, B, T, D)
        for place, i in enumerate(some):
            one = found[i]
            rows[i] = layers[:, place, one.pieces].mean(1)
            around[i] = table[[*one.ids[1 : one.pieces.start], *one.ids[one.pieces.stop : -1]]].mean(0)
    return torch.stack(rows, 1), torch.stack(around)


def nearest_is_right(train: Sequence[Sentence], test: Sequence[Sentence], x: Tensor, asked: Tensor) -> Tensor:
    """For each occurrence of `test` whether the nearest of the same word has its sense: (n,) bool.

    Parameters
    ----------
    train, test : the occurrences.
    x, asked : (m, D) and (n, D), a vector for each; nearest by cosine.
    """
    x, asked = F.normalize(x, dim=-1), F.normalize(asked, dim=-1)
    right = torch.zeros(len(test), dtype=torch.bool)
    for word in dict.fromkeys(one.word for one in test):
        mine = [i for i, one in enumerate(train) if one.word == word]
        theirs = [i for i, one in enumerate(test) if one.word == word]
        best = (asked[theirs] @ x[mine].T).argmax(1).tolist()
        for i, b in zip(theirs, best, strict=True):
            right[i] = test[i].sense == train[mine[b]].sense
    return right


def majority_is_right(train: Sequence[Sentence], test: Sequence[Sentence]) -> Tensor:
    """For each occurrence of `test` whether it has the sense that is most frequent in `train`."""
    senses: dict[str, list[str]] = {}
    for one in train:
        senses.setdefault(one.word, []).append(one.sense)
    best = {word: max(sorted(set(mine)), key=mine.count) for word, mine in senses.items()}
    return torch.tensor([one.sense == best[one.word] for one in test])


def kinds_of(found: Sequence[Sentence]) -> list[str]:
    """For each occurrence of a homograph, whether its readings differ in part of speech, or not purely so."""
    return ["part of speech" if one.word in told_by_syntax() else "others" for one in found]


def measure(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Measure one set with one network."""
    model = MiniLM()
    if arm["weights"] == "before training":
        torch.manual_seed(0)
        model.bert.apply(begin)
    train, test = (occurrences(arm["set"], model.tokenizer, split) for split in ("train", "test"))
    (layers, around), (asked, asked_around) = states(model, train), states(model, test)
    right = [nearest_is_right(train, test, *both) for both in zip(layers, asked, strict=True)]
    beside = {
        "around": nearest_is_right(train, test, around, asked_around),
        "majority": majority_is_right(train, test),
    }
    kinds = kinds_of(test) if arm["set"] == "wikipedia-homographs" else [one.word for one in test]
    words = {word: i for i, word in enumerate(dict.fromkeys(one.word for one in test))}
    groups = torch.tensor([words[one.word] for one in test])
    return {
        "right": [percent(one) for one in right],
        "interval": [interval(100 * one.double(), groups) for one in right],
        **{name: percent(one) for name, one in beside.items()},
        "parts": {kind: part(kinds, kind, right, beside) for kind in sorted(set(kinds))},
        "occurrences": {"train": len(train), "test": len(test), "words": len(words)},
    }


def part(kinds: Sequence[str], kind: str, right: list[Tensor], beside: dict[str, Tensor]) -> dict[str, Any]:
    """The same shares for the occurrences of one kind."""
    mine = torch.tensor([one == kind for one in kinds])
    named = {name: percent(one[mine]) for name, one in beside.items()}
    return {"right": [percent(one[mine]) for one in right], **named, "test": int(mine.sum())}


def percent(right: Tensor) -> float:
    """Share of True in %."""
    return round(100 * right.double().mean().item(), 2)


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [{"set": name, "weights": weights} for name in SETS for weights in WEIGHTS]
    rows = run_arms(NAME, arms, measure, parser.parse_args().workers)
    settings = {"most": MOST, "most_pieces": MOST_PIECES}
    seconds = sum(row["seconds"] for row in rows)
    save_result(NAME, QUESTION, {"arms": rows, "settings": settings}, seconds=seconds)


if __name__ == "__main__":
    main()
