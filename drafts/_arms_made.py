"""The arms of a comparison, made with one size: equal width, layers, heads and number of parameters.

Width, layers and heads are those of the BERT. What is left to choose (the width of feed-forward layers, of an
LSTM's memory, of CBOW's vectors) is chosen so that all have the same number of parameters, to about a
percent. Transformers begin with heads that look at their neighbours: BERT's to both sides, those of GPTs
back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from _arms import CBOW, Arm, Around, BertArm, ELMoArm, GluedArm, GPTArm, StaticArm
from torch import Tensor, nn

from bertlab.nn import BertConfig, BertForPreTraining
from bertlab.nn.elmo import ELMoForPreTraining
from bertlab.nn.elmo_config import ELMoConfig
from bertlab.nn.glued import GluedGPTs
from bertlab.nn.gpt import GPT
from bertlab.nn.gpt_config import GPTConfig
from bertlab.nn.looking_back import look_back
from bertlab.nn.neighbours import look_beside
from bertlab.text import Corpus, WordPiece


class Size(NamedTuple):
    """Sizes that all arms share; BERT is the one that the others are fitted to."""

    width: int
    layers: int
    heads: int
    length: int  # most positions of a text


class World(NamedTuple):
    """What all arms of an experiment share."""

    vocab: WordPiece
    corpus: Corpus
    size: Size
    batch: int  # texts in a step
    pairs: bool  # whether "BERT" learns to predict next sentences

    @property
    def log_unigram(self) -> Tensor:
        """Logarithm of how often each piece stands in the corpus, with one more of each: (V,)."""
        counts = np.ones(len(self.vocab))
        for shard in self.corpus.shards:
            counts += np.bincount(shard, minlength=len(counts))
        return torch.from_numpy(np.log(counts / counts.sum())).float()


Make = Callable[[Size, int, int, int], nn.Module]  # size, V, pad_id, what is free


def _shared(size: Size, vocab_size: int, pad_id: int) -> dict[str, Any]:
    """What the configs of a BERT and of a GPT have in common."""
    sizes = {"n_layers": size.layers, "d_model": size.width, "n_heads": size.heads}
    sizes |= {"vocab_size": vocab_size, "pad_id": pad_id, "max_positions": size.length}
    return {**sizes, "dropout": 0.0, "attention_dropout": 0.0}


def _bert(size: Size, vocab_size: int, pad_id: int, pairs: bool) -> BertForPreTraining:
    config = BertConfig(d_ff=4 * size.width, **_shared(size, vocab_size, pad_id))
    model = BertForPreTraining(config, next_sentence=pairs)
    look_beside(model.bert)
    return model


def _gpt_config(size: Size, vocab_size: int, pad_id: int, free: int) -> GPTConfig:
    return GPTConfig(d_ff=free, norm_first=True, **_shared(size, vocab_size, pad_id))


def _gpt(size: Size, vocab_size: int, pad_id: int, free: int) -> GPT:
    model = GPT(_gpt_config(size, vocab_size, pad_id, free))
    look_back(model)
    return model


def _glued(size: Size, vocab_size: int, pad_id: int, free: int) -> GluedGPTs:
    model = GluedGPTs(_gpt_config(size, vocab_size, pad_id, free))
    for reader in (model.forwards, model.backwards):  # the tables, which they share, get the same twice
        look_back(reader)
    return model


def _elmo(size: Size, vocab_size: int, pad_id: int, free: int) -> ELMoForPreTraining:
    sizes: dict[str, Any] = {"d_model": size.width, "d_memory": free, "n_layers": size.layers}
    return ELMoForPreTraining(
        ELMoConfig(vocab_size=vocab_size, pad_id=pad_id, dropout=0.0, n_characters=0, **sizes)
    )


FITTED: dict[str, tuple[type[Arm], Make, int]] = {  # the last: what is chosen is a multiple of it
    "CBOW": (StaticArm, lambda size, V, pad, free: CBOW(Around(V, free, pad)), 1),
    "ELMo": (ELMoArm, _elmo, 4),
    "GPT": (GPTArm, _gpt, 8),
    "two GPTs": (GluedArm, _glued, 8),
}


def make(arm: str, world: World, seed: int) -> Arm:
    """Make an arm with its first weights.

    Parameters
    ----------
    arm : one of `FITTED`; or a name that begins with "BERT", where "BERT, no pairs" never predicts next
        sentences; or "two GPTs, each whole", of which either has as many parameters as the GPT.
    world, seed : what it is for, and the seed of its weights.
    """
    V, pad = len(world.vocab), world.vocab.pad_id
    if arm.startswith("BERT"):
        torch.manual_seed(seed)
        made = BertArm(_bert(world.size, V, pad, has_pairs(arm, world)), world.log_unigram)
        made.mask_id = world.vocab.mask_id
        return made
    name = arm.removesuffix(", each whole")
    kind, maker, _ = FITTED[name]
    free = fitted(name if name == arm else "GPT", world.size, V, pad, world.pairs)
    torch.manual_seed(seed)
    return kind(maker(world.size, V, pad, free), world.log_unigram)


def has_pairs(arm: str, world: World) -> bool:
    """Say whether an arm reads pairs of texts, and predicts whether one follows the other."""
    return world.pairs and arm == "BERT"


@cache
def fitted(arm: str, size: Size, vocab_size: int, pad_id: int, pairs: bool) -> int:
    """Choose the free width of an arm, so that it has as many parameters as BERT."""
    _, maker, step = FITTED[arm]
    wanted = parameters(_bert(size, vocab_size, pad_id, pairs))
    one, two = (parameters(maker(size, vocab_size, pad_id, n)) for n in (step, 2 * step))
    return step * max(1, 1 + round((wanted - one) / (two - one)))


def parameters(model: nn.Module) -> int:
    """Count numbers that are trained."""
    return sum(parameter.numel() for parameter in model.parameters())
