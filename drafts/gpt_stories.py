"""What does it cost not to see the right side? On stories, where the best possible is known for both readers.

The world of notebook 09: four plots of the synthetic stories, models of 2 layers of 64. A GPT reads from the
left, a BERT both sides; both read the same batches of stories and are asked about the same words of held-out
ones: a single word is missing, all others are there. For each of these words the exact chances are computed
twice, from the left alone and from both sides, and by them the words are of one of three kinds, decided
before any model was asked:

- the left decides: the likeliest word has more than 0.9 from the left alone;
- only the right decides: it has not, but more than 0.9 from both sides;
- open: nobody can be so sure.

A GPT says what is likeliest from the left. But it gives every text a probability, so it can also be made to
look right, by rereading: each of the 32 words that it finds likeliest is put into the gap, and the story as a
whole is scored (Bayes' rule). That costs 32 readings for one gap.

Arms: GPT, with first weights as published; BERT, with heads that look beside, and 15 or 40 % of the words
asked for. All hidden words read [MASK]. Three seeds. (In a trial of 350 steps with one seed, heads that look
back gained a GPT nothing: 1.20 bits a word, and 1.16 without.)
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from bert_stories import BATCH, GRAMMAR, LENGTH, NEVER, PEAK, PLOTS, STORIES, pieces, vocabulary
from bertlab.datasets.stories import posterior, sample_stories
from bertlab.nn import GPT, BertConfig, BertForPreTraining, GPTConfig
from bertlab.nn.language_model import shift_left
from bertlab.nn.neighbours import look_beside
from bertlab.nn.packing import Packing
from bertlab.text import Masker
from bertlab.text.inputs import Batch, Inputs, Marks, join_texts, pad_batch
from bertlab.text.masked_lm import Ids
from bertlab.text.pretraining_examples import epoch_order
from bertlab.training import fit, linear_decay, run_arms, save_result
from bertlab.training.journal import read_journal

NAME = "gpt_stories"
QUESTION = "What does it cost a language model not to see what stands on the right?"
SEEDS, STEPS, REPORTS = (0, 1, 2), 2000, 10
ASKED, OF_EACH = 200, 3  # held-out stories; words of each that are asked for, one at a time
SURE, CANDIDATES = 0.9, 32
KINDS = ("the left decides", "only the right decides", "open")
HIDDEN = (1.0, 0.0, 0.0)  # all chosen words read [MASK]
ARMS: dict[str, dict[str, Any]] = {
    "GPT": {"model": "gpt"},
    "BERT, 15 %": {"model": "bert", "rate": 0.15},
    "BERT, 40 %": {"model": "bert", "rate": 0.40},
}
SIZES: dict[str, Any] = {"d_model": 64, "n_layers": 2, "n_heads": 4, "d_ff": 256, "max_positions": LENGTH}
WITHOUT: dict[str, Any] = {"dropout": 0.0, "attention_dropout": 0.0}
Model = GPT | BertForPreTraining
Row = dict[str, Any]


class Gap(NamedTuple):
    """A story of which one word is asked for."""

    ids: Ids  # (T,) the whole story, between [CLS] and [SEP]
    place: int  # of the word
    left: dict[int, float]  # exact chances by piece, from the left alone
    both: dict[int, float]  # from both sides

    @property
    def kind(self) -> str:
        """Say what decides which word it is."""
        if max(self.left.values()) > SURE:
            return KINDS[0]
        return KINDS[1] if max(self.both.values()) > SURE else KINDS[2]


def story_inputs(sentences: Any) -> Inputs:
    """Lay a story between [CLS] and [SEP]."""
    vocab = vocabulary()
    return join_texts(pieces(sentences), None, Marks(vocab.cls_id, vocab.sep_id, vocab.sep_id), LENGTH)


@cache
def gaps(n: int = ASKED) -> list[Gap]:
    """Choose words of held-out stories, and compute their chances."""
    rng, ids = np.random.default_rng(1), vocabulary().ids
    found = []
    for story in sample_stories(rng, n, held_out=True, grammar=GRAMMAR):
        words = [
            (i, j) for i, row in enumerate(story.words) for j, word in enumerate(row) if word not in NEVER
        ]
        for k in rng.choice(len(words), OF_EACH, replace=False).tolist():
            i, j = words[k]
            before = pieces(story.words[:i]) + pieces([story.words[i][:j]])
            left, both = (
                {
                    ids[word]: p
                    for word, p in posterior(story.words, (i, j), only, GRAMMAR).items()
                    if word in ids
                }
                for only in (True, False)
            )
            found.append(Gap(story_inputs(story.words).ids, len(before) + 1, left, both))
    return found


class Stories:
    """The batches of a training, by their numbers: the same stories for all models."""

    def __init__(self, seed: int) -> None:
        told = sample_stories(np.random.default_rng(seed), STORIES, grammar=GRAMMAR)
        self.seed, self.inputs = seed, [story_inputs(story.words) for story in told]

    def __call__(self, number: int) -> tuple[Batch, Ids, int]:
        """Make a batch; also tell the numbers of its stories, and the epoch."""
        epoch, place = divmod(number, len(self.inputs) // BATCH)
        rows = epoch_order(len(self.inputs), self.seed, epoch)[place * BATCH : (place + 1) * BATCH]
        return pad_batch([self.inputs[row] for row in rows.tolist()], vocabulary().pad_id), rows, epoch


def new_model(arm: Row) -> Model:
    """Make the model of an arm with its first weights."""
    torch.manual_seed(arm["seed"])
    if ARMS[arm["arm"]]["model"] == "gpt":
        return GPT(GPTConfig(vocab_size=len(vocabulary()), **SIZES, **WITHOUT))
    bert = BertForPreTraining(
        BertConfig(vocab_size=len(vocabulary()), **SIZES, **WITHOUT), next_sentence=False
    )
    look_beside(bert.bert)
    return bert


def loss_of(model: Model, arm: Row) -> Callable[[int], tuple[Tensor, int]]:
    """Make the loss of a batch by its number: its mean, and how many words are asked for."""
    stories = Stories(arm["seed"])
    masker = Masker(vocabulary(), arm["seed"], ARMS[arm["arm"]].get("rate", 0.15), HIDDEN)

    def loss(number: int) -> tuple[Tensor, int]:
        batch, rows, epoch = stories(number)
        real = torch.from_numpy(batch.mask)
        if isinstance(model, GPT):
            ids = torch.from_numpy(batch.ids)
            packing = Packing.where_it_pays(real, causal=True)
            return model.loss(ids, shift_left(ids, real), packing), int(real.sum()) - len(rows)
        ids, places, labels = map(torch.from_numpy, masker.mask_sparse(batch.ids, rows, epoch))
        nothing = torch.zeros(len(rows), dtype=torch.int64)
        masked = model.loss(ids, torch.zeros_like(ids), places, labels, nothing, Packing.where_it_pays(real))[
            0
        ]
        return masked, len(labels)

    return loss


@torch.no_grad()
def directly(model: Model, some: Sequence[Gap], at_once: int = 64) -> np.ndarray:
    """Ask for the words as each model does: (N, V) probabilities; no special token can be the answer."""
    vocab, found = vocabulary(), []
    for first in range(0, len(some), at_once):
        part = some[first : first + at_once]
        ids = pad_sequence([torch.from_numpy(gap.ids) for gap in part], True, vocab.pad_id)
        rows, places = torch.arange(len(part)), torch.tensor([gap.place for gap in part])
        if isinstance(model, GPT):
            logits = model(ids).logits[rows, places - 1]
        else:
            ids[rows, places] = vocab.mask_id
            at = rows * ids.shape[1] + places
            logits = model(ids, torch.zeros_like(ids), positions=at).logits
        logits[:, [vocab.pad_id, vocab.cls_id, vocab.sep_id, vocab.mask_id]] = -torch.inf
        found.append(logits.softmax(-1).double().numpy())
    return np.concatenate(found)


@torch.no_grad()
def by_rereading(model: GPT, some: Sequence[Gap], n: int = CANDIDATES) -> np.ndarray:
    """Ask a GPT for the words with both sides known: (N, V) probabilities.

    The n likeliest words from the left share what they had together by how probable they make the whole
    story; all others keep what they had.
    """
    from_left = directly(model, some)
    found = from_left.copy()
    for gap, p in zip(some, found, strict=True):
        words = np.argsort(-p, kind="stable")[:n]
        ids = torch.from_numpy(np.repeat(gap.ids[None], n, axis=0))
        ids[:, gap.place] = torch.from_numpy(words)
        log_p = model(ids[:, :-1]).logits[:, gap.place :].log_softmax(-1)  # of what stands behind the gap
        behind = log_p.gather(2, ids[:, gap.place + 1 :, None])[..., 0].double().sum(1).numpy()  # (n,)
        weight = p[words] * np.exp(behind - behind.max())
        p[words] = p[words].sum() * weight / weight.sum()
    return found


def scores(p: np.ndarray, some: Sequence[Gap]) -> Row:
    """Measure answers, in all and by kind: surprise in bits, and share of right first guesses."""
    right = np.array([int(gap.ids[gap.place]) for gap in some])
    surprise = -np.log2(np.maximum(p[np.arange(len(p)), right], 1e-12))
    return _by_kind(some, surprise, p.argmax(1) == right)


def bounds(some: Sequence[Gap]) -> dict[str, Row]:
    """Measure who knows the exact chances, from the left and from both sides, on the same words."""
    found = {}
    for side in ("left", "both"):
        chances = [getattr(gap, side) for gap in some]
        surprise = [-np.log2(p[int(gap.ids[gap.place])]) for p, gap in zip(chances, some, strict=True)]
        found[side] = _by_kind(some, np.array(surprise), np.array([max(p.values()) for p in chances]))
    return found


def _by_kind(some: Sequence[Gap], surprise: np.ndarray, hits: np.ndarray) -> Row:
    kinds = np.array([gap.kind for gap in some])
    groups = {"all": np.ones(len(some), bool), **{kind: kinds == kind for kind in KINDS}}
    return {
        name: {
            "words": int(own.sum()),
            "bits": round(float(surprise[own].mean()), 4),
            "half_width": round(1.96 * float(surprise[own].std()) / int(own.sum()) ** 0.5, 4),
            "right": round(float(hits[own].mean()), 4),
        }
        for name, own in groups.items()
        if own.any()
    }


def train_and_test(arm: Row, path: Path) -> Row:
    """Train one model, looking at it now and then; in the end ask in every way that it has."""
    model, some = new_model(arm), gaps()
    loss, asked = loss_of(model, arm), 0
    begun, looking = time.process_time(), 0.0

    def counted(number: int) -> Tensor:
        nonlocal asked
        found, n = loss(number)
        asked += n
        return found

    def evaluate() -> dict[str, float]:
        nonlocal looking
        start = time.process_time()
        found = scores(directly(model, some), some)["all"]
        looking += time.process_time() - start
        return {"bits": found["bits"], "right": found["right"], "asked": asked,
                "core_seconds": round(start - begun - looking, 1)}  # fmt: skip

    journal = path.with_suffix(".jsonl")
    journal.unlink(missing_ok=True)
    fit(
        model,
        counted,
        steps=STEPS,
        learning_rate=linear_decay(PEAK, STEPS // 10, STEPS + 1),
        weight_decay=0.01,
        evaluate=evaluate,
        report_every=STEPS // REPORTS,
        journal=journal,
    )
    found = {"directly": scores(directly(model.eval(), some), some)}
    if isinstance(model, GPT):
        found["by rereading"] = scores(by_rereading(model, some), some)
    wanted = ("step", "bits", "right", "asked", "core_seconds")
    curve = [{name: row[name] for name in wanted} for row in read_journal(journal)]
    return {"parameters": sum(p.numel() for p in model.parameters()), "found": found, "curve": curve}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[Row] = [{"arm": arm, "seed": seed} for seed in SEEDS for arm in ARMS]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    settings = {
        "plots": PLOTS,
        "steps": STEPS,
        "batch": BATCH,
        "peak": PEAK,
        "sure": SURE,
        "pieces": len(vocabulary()),
    }
    results = {"settings": settings, "kinds": KINDS, "bounds": bounds(gaps()), "arms": rows}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
