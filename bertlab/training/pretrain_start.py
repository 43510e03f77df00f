"""The weights that a pre-training begins with: new ones, or those of a trained BERT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from bertlab import datasets
from bertlab.nn.bert import BertModel
from bertlab.nn.bert_heads import BertForPreTraining
from bertlab.nn.neighbours import look_beside
from bertlab.text import WordPiece
from bertlab.training.pretrain_config import ConfigError, PretrainConfig

Load = Callable[[str], tuple[nn.Module, WordPiece]]
Say = Callable[[str], None]


def begin_with(config: PretrainConfig, load: Load | None, say: Say) -> tuple[BertForPreTraining, WordPiece]:
    """Make the model and its tokenizer.

    Parameters
    ----------
    config : says whether the weights are new or trained ones.
    load : from a folder or name to a trained model and its tokenizer.
    say : is told what begins new in a trained model.

    Raises
    ------
    ConfigError
        If the vocabulary cannot be read or shares nothing with the trained one. What `load` raises, besides.
    """
    torch.manual_seed(config.seed)
    if config.start:
        if config.look_beside:
            raise ConfigError("look_beside = true is for new weights: leave it out, or leave out start")
        if load is None:
            raise ConfigError(f"start = {config.start!r}, but nothing to load it with was given")
        return _warm(config, *load(config.start), _tokenizer(config) if config.vocab else None, say)
    own = _tokenizer(config)
    model = BertForPreTraining(config.sizes(len(own), own.pad_id), config.next_sentence)
    if config.look_beside:
        say(f"heads of the first layer begin by looking {look_beside(model.bert)} places to the right")
    return model, own


def _tokenizer(config: PretrainConfig) -> WordPiece:
    path = config.vocab or datasets.load("bert-base-uncased-vocab").path("vocab.txt")
    try:
        return WordPiece.from_file(path, config.lowercase)
    except (OSError, ValueError) as error:
        raise ConfigError(f"vocab = {config.vocab!r}: {error}") from error


def _warm(
    config: PretrainConfig, trained: nn.Module, theirs: WordPiece, own: WordPiece | None, say: Say
) -> tuple[BertForPreTraining, WordPiece]:
    """Take over all that the trained model has; what it lacks begins new, and is said."""
    if isinstance(trained, BertModel):
        state = {f"bert.{name}": value for name, value in trained.state_dict().items()}
    elif isinstance(trained, BertForPreTraining):
        state = dict(trained.state_dict())
    else:
        raise ConfigError(f"start = {config.start!r} is a {type(trained).__name__}, which is no BERT")
    tokenizer = own or theirs
    if len(theirs) != (V := trained.config.vocab_size):
        raise ConfigError(f"start = {config.start!r} has {len(theirs)} pieces for {V} rows of embeddings")
    sizes = replace(
        trained.config,
        vocab_size=len(tokenizer),
        pad_id=tokenizer.pad_id,
        dropout=config.dropout,
        attention_dropout=config.dropout,
    )
    if sizes.max_positions < config.max_length:
        raise ConfigError(
            f"max_length = {config.max_length} is beyond the {sizes.max_positions} positions of "
            f"{config.start}: choose less"
        )
    model = BertForPreTraining(sizes, config.next_sentence)
    if own is not None and own.vocab != theirs.vocab:
        state = _other_vocabulary(state, theirs, own, model, say)
    _take_over(model, state, config.start, say)
    return model, tokenizer


def _take_over(model: BertForPreTraining, state: dict[str, Tensor], start: str, say: Say) -> None:
    """Load what is there; name the parts that begin new or are left."""
    wanted = model.state_dict()
    missing, left = sorted(wanted.keys() - state.keys()), sorted(state.keys() - wanted.keys())
    model.load_state_dict({**wanted, **{name: state[name] for name in wanted.keys() & state.keys()}})
    for names, what in ((missing, "begin with new weights"), (left, "are not used")):
        if names:
            parts = sorted(
                {".".join(name.split(".")[: 2 if name.startswith("bert.") else 1]) for name in names}
            )
            say(f"start = {start}: {', '.join(parts)} {what} ({len(names)} tensors)")


def _other_vocabulary(
    state: dict[str, Tensor], theirs: WordPiece, own: WordPiece, model: BertForPreTraining, say: Say
) -> dict[str, Tensor]:
    """Give each piece of our vocabulary the row it had in the trained one, where it was there."""
    known = [(i, theirs.ids[piece]) for i, piece in enumerate(own.vocab) if piece in theirs.ids]
    if len(known) <= len(own.special_ids):
        raise ConfigError("vocab shares no word with that of `start`: leave one of them out")
    ours, old = (torch.tensor(column) for column in zip(*known, strict=True))
    fresh = model.state_dict()
    for name in ("bert.embeddings.token.weight", "masked_lm.bias"):
        if name in state:
            rows = fresh[name].clone()
            rows[ours] = state[name][old].to(rows.dtype)
            state = {**state, name: rows}
    say(f"vocab: {len(known)} of {len(own)} pieces have trained rows, {len(own) - len(known)} begin new")
    return state
