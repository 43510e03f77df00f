"""How many questions find the paragraph that answers them, by how a text is made one vector?

A question and 120 paragraphs of Wikipedia (XQuAD, English, every second article); right if the paragraph that
answers it is the nearest by cosine. Texts become vectors in several ways: the mean of the states of a layer,
the state of [CLS], the largest of each number, what the pooler says; and the mean with what all paragraphs
have in common taken off. For all-MiniLM-L6-v2, which was trained for the mean of its last layer; for the
BERTs of this repository, which were trained to fill blanks; and for a network before training. Beside them:
TF-IDF, and the mean of GloVe's word vectors. Nothing is trained.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.feature_extraction.text import TfidfVectorizer
from torch import Tensor, nn

from _minilm import MODEL
from _search import Search, interval
from bertlab import datasets
from bertlab.interop import load_bert
from bertlab.nn import BertModel
from bertlab.nn.bert import begin
from bertlab.training import run_arms, save_result

NAME = "sentence_search"
QUESTION = "How many questions find the paragraph that answers them, by how a text is made one vector?"
MODELS = (MODEL, "bert-6l", "bert-mini")  # the latter two by this repository, for masked words alone
UNTRAINED = "before training"
PIECES = 128  # of a text that are read
MORE_PIECES = 256  # all-MiniLM-L6-v2 alone: the others were trained with 128 positions
WORDS = re.compile(r"[a-z]+")


class Reader(nn.Module):
    """A BERT with its tokenizer."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.bert, self.tokenizer = load_bert(MODEL if name == UNTRAINED else name, BertModel)
        if name == UNTRAINED:
            torch.manual_seed(0)
            self.bert.apply(begin)
        self.eval().requires_grad_(False)


@torch.no_grad()
def vectors(reader: Reader, search: Search) -> dict[str, Tensor]:
    """Make each text a vector in every way: name of the way -> (n, D)."""
    found: dict[str, list[Tensor]] = {}
    for _, ids in search.texts:
        output, real = reader.bert(ids), (ids != 0)[..., None].float()  # (B, T, 1)
        for number, x in enumerate(output.layers):
            found.setdefault(f"mean of layer {number}", []).append((x * real).sum(1) / real.sum(1))
        found.setdefault("[CLS]", []).append(output.states[:, 0])
        found.setdefault("largest", []).append(output.states.masked_fill(real == 0, -torch.inf).amax(1))
        if output.pooled is not None:
            found.setdefault("pooler", []).append(output.pooled)
    order = torch.cat([which for which, _ in search.texts]).argsort()
    return {way: torch.cat(parts)[order] for way, parts in found.items()}


def without_common(x: Tensor, n_questions: int) -> Tensor:
    """Take off what the paragraphs have in common: the mean of their vectors."""
    return x - x[n_questions:].mean(0)


def judged(search: Search, x: Tensor) -> dict[str, Any]:
    """Share of questions that find their paragraph, in %, with its interval over paragraphs."""
    first = search.each(F.normalize(x, dim=-1))["first"]
    return {"first": round(first.mean().item(), 2), "interval": interval(first, search.answers)}


def glove(texts: list[str]) -> Tensor:
    """Mean of the vectors of the words that GloVe's 20,000 most frequent ones have: (n, 50)."""
    files = datasets.load("glove-6b-50d-top20k")
    table = np.load(files.path("vectors_f16.npy"), allow_pickle=False).astype(np.float32)
    row = {word: i for i, word in enumerate(files.lines("words.txt"))}
    known = [[row[word] for word in WORDS.findall(text.lower()) if word in row] for text in texts]
    return torch.from_numpy(np.stack([table[rows].mean(0) for rows in known]))


def tf_idf(texts: list[str], n_questions: int) -> Tensor:
    """Words of each text, weighted by how few paragraphs have them: (n, words)."""
    counter = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit(texts[n_questions:])
    return torch.from_numpy(counter.transform(texts).toarray())


def measure(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Measure all ways with one model, or what is set beside."""
    reader = Reader(UNTRAINED if arm["model"] == "beside" else arm["model"])
    search = Search(reader, "test", arm["pieces"])
    n = len(search.answers)
    if arm["model"] == "beside":
        ways = {"TF-IDF": tf_idf(search.raw, n), "GloVe, mean": glove(search.raw)}
    else:
        ways = vectors(reader, search)
        ways["mean"] = ways[f"mean of layer {reader.bert.config.n_layers}"]
        ways |= {
            f"{way}, common part off": without_common(ways[way], n)
            for way in ("mean", "[CLS]", "mean of layer 0")
        }
    return {"ways": {way: judged(search, x) for way, x in ways.items()}, "questions": n}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [
        {"model": name, "pieces": PIECES} for name in ("beside", UNTRAINED, *MODELS)
    ]
    arms += [{"model": MODEL, "pieces": MORE_PIECES}]
    rows = run_arms(NAME, arms, measure, parser.parse_args().workers)
    save_result(NAME, QUESTION, {"arms": rows}, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
