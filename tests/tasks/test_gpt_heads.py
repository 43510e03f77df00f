"""GPT's head against `transformers` and by hand: what it reads, what it learns beside its answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.interop.gpt_names import to_ours, to_theirs
from bertlab.nn import GPT, GPTConfig
from bertlab.nn.packing import Packing
from bertlab.tasks.batches import answers
from bertlab.tasks.finetune import FineTuning, fine_tune, layer_factors
from bertlab.tasks.gpt_heads import GPTForClassification, new_tokens
from bertlab.tasks.task import Classification
from bertlab.text import Marks, join_texts
from tests.nn.their_gpt import SMALL, configs, some_gpt, their_config, with_some_weights
from tests.tasks.learnable import TOKENIZER, loss_of, parts_of
from tests.text.byte_pairs import byte_pairs

N_LABELS = 3
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def some_head(config: GPTConfig = SMALL, **options: Any) -> GPTForClassification:
    torch.manual_seed(0)
    model = GPTForClassification(GPT(config), N_LABELS, dropout=0.0, **options)
    return with_some_weights(model).double()


def some_ids(marks: Marks, lengths: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Texts of so many tokens between start and extract, padded; and where a token stands."""
    generator, real = torch.Generator().manual_seed(0), torch.arange(max(lengths) + 2)
    real = real < torch.tensor(lengths)[:, None] + 2
    ids = torch.randint(1, marks.first, real.shape, generator=generator)
    ids[:, 0] = marks.first
    ids[torch.arange(len(lengths)), torch.tensor(lengths) + 1] = marks.last
    return ids.masked_fill(~real, 0), real


@pytest.mark.parametrize("packed", [False, True])
@settings(max_examples=8)
@given(config=configs(), lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4))
def test_scores_joint_loss_and_all_gradients_are_those_of_transformers(
    packed: bool, config: GPTConfig, lengths: list[int]
) -> None:
    ours = some_head(config)
    with torch.no_grad():
        ours.classifier.bias.zero_()  # theirs has none
    ids, real = some_ids(ours.marks, lengths)
    labels = torch.arange(len(lengths)) % N_LABELS
    packing = Packing(real, price=0, causal=True) if packed else None
    twin, lm = their_twins(ours)

    logits = twin(ids, attention_mask=real.long()).logits
    torch.testing.assert_close(ours(ids, packing), logits, **CLOSE)
    next_ones = lm(ids, attention_mask=real.long()).logits[:, :-1]
    asked = ids[:, 1:].masked_fill(~real[:, 1:], -100)
    wanted = F.cross_entropy(logits, labels) + 0.5 * F.cross_entropy(next_ones.flatten(0, 1), asked.flatten())
    found = ours.loss(labels, ids, packing)
    torch.testing.assert_close(found, wanted, **CLOSE)

    found.backward()
    wanted.backward()
    their = to_ours(
        {name.removeprefix("transformer."): p.grad for name, p in lm.named_parameters()}, ours.gpt.config
    )
    for name, parameter in ours.gpt.named_parameters():
        torch.testing.assert_close(parameter.grad, their[name], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(ours.classifier.weight.grad, twin.score.weight.grad, **CLOSE)


def their_twins(ours: GPTForClassification) -> tuple[Any, Any]:
    """Their classifier and their language model, which share one trunk with a copy of our weights."""
    config = their_config(ours.gpt.config)
    config.num_labels, config.pad_token_id = N_LABELS, 0
    kinds = (
        (transformers.GPT2ForSequenceClassification, transformers.GPT2LMHeadModel)
        if ours.gpt.config.norm_first
        else (transformers.OpenAIGPTForSequenceClassification, transformers.OpenAIGPTLMHeadModel)
    )
    twin, lm = (kind(config).double().eval() for kind in kinds)
    twin.transformer = lm.transformer
    with torch.no_grad():
        for name, tensor in to_theirs(ours.gpt.state_dict(), ours.gpt.config).items():
            lm.transformer.get_parameter(name).copy_(tensor)
        twin.score.weight.copy_(ours.classifier.weight)
    return twin, lm


@pytest.mark.parametrize("lm_weight", [0.0, 0.5, 2.0])
def test_the_loss_is_that_of_the_answers_plus_lambda_times_the_language_model_s(lm_weight: float) -> None:
    model = some_head(lm_weight=lm_weight)
    ids, _ = some_ids(model.marks, [3, 5])
    ids[0, 2] = model.marks.between
    labels, surprise = torch.tensor([2, 0]), []
    of_answers = -model(ids).log_softmax(-1)[[0, 1], labels].mean()
    for row in ids:
        length = int((row == model.marks.last).nonzero()) + 1
        log_p = model.gpt(row[None, :length]).logits[0].log_softmax(-1)
        surprise += [-log_p[t, row[t + 1]] for t in range(length - 1)]
    wanted = of_answers + lm_weight * torch.stack(surprise).mean()
    torch.testing.assert_close(model.loss(labels, ids), wanted, **CLOSE)


def test_what_is_classified_is_the_state_of_the_extract_token() -> None:
    model = some_head()
    ids, _ = some_ids(model.marks, [2, 6])
    states = model.gpt.read(ids)[0][-1]
    chosen = torch.stack([states[0, 3], states[1, 7]])
    torch.testing.assert_close(model(ids), model.classifier(chosen), **CLOSE)
    ids[0, 4:] = 7  # whatever stands behind it
    torch.testing.assert_close(model(ids), model.classifier(chosen), **CLOSE)


@pytest.mark.parametrize("count", [0, 2])
def test_an_input_without_its_one_extract_token_is_refused(count: int) -> None:
    model = some_head()
    ids, _ = some_ids(model.marks, [3, 3])
    ids[1, 3:5] = model.marks.last if count else 7
    with pytest.raises(ValueError, match=f"row 1 has {count} extract tokens instead of 1"):
        model(ids)


def test_three_tokens_are_new_and_the_others_as_they_were() -> None:
    gpt, config = some_gpt(), SMALL
    before = gpt.embeddings.token.weight.detach().clone()
    model = GPTForClassification(gpt, N_LABELS)
    assert model.marks == (40, 41, 42)
    assert gpt.config == replace(config, vocab_size=43)
    after = gpt.embeddings.token.weight
    assert after.requires_grad
    assert after.dtype == torch.float64
    assert torch.equal(after[:40], before)
    assert after[40:].abs().max() < 0.1
    assert len({tuple(row) for row in after[40:].tolist()}) == 3
    assert gpt(torch.tensor([[40, 5, 42]])).logits.shape == (1, 3, 43)
    assert list(new_tokens(gpt, 2)) == [43, 44]


def test_a_weight_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lm_weight=-1: choose 0 or more, 0\.5 in the paper"):
        GPTForClassification(GPT(SMALL), 2, lm_weight=-1)


def tiny(**options: Any) -> GPTForClassification:
    torch.manual_seed(0)
    sizes = {"d_model": 32, "n_layers": 2, "n_heads": 2, "d_ff": 64, "max_positions": 32}
    config = GPTConfig(vocab_size=len(TOKENIZER), dropout=0.0, attention_dropout=0.0, **sizes)
    return GPTForClassification(GPT(config), 2, dropout=0.0, **options)


def made(kind: str, head: GPTForClassification, sizes: dict[Any, int], shuffled: bool = False) -> Any:
    parts = parts_of(kind, sizes, shuffled)
    return Classification(parts, ("no", "yes"), TOKENIZER, max_length=32, marks=head.marks)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n", "lm_weight"), [("text", 160, 0.5), ("pair", 320, 0.0)])
def test_a_small_gpt_learns_the_task_and_nothing_from_shuffled_answers(
    kind: str, n: int, lm_weight: float
) -> None:
    """Words put together by chance have no next one to learn: beside that loss, pairs are not learnt here."""
    choices, sizes = FineTuning(epochs=8, batch_size=16, rate=3e-3), {"train": n, "val": 60, "test": 60}
    for shuffled in (False, True):
        model = tiny(lm_weight=lm_weight)
        task = made(kind, model, sizes, shuffled)
        tuned = fine_tune(model, task, choices)
        for found in (tuned.scores, task.scores(model, "test")):
            assert found["accuracy"] < 0.8 if shuffled else found["accuracy"] > 0.9


@pytest.mark.parametrize("kind", ["text", "pair"])
def test_the_inputs_of_a_task_are_those_of_the_paper(kind: str) -> None:
    model = tiny()
    task = made(kind, model, {"train": 8, "val": 3})
    for example, one in zip(parts_of(kind, {"train": 8})["train"], task.inputs["train"], strict=True):
        a = TOKENIZER.encode(example.text).ids
        b = None if example.text_b is None else TOKENIZER.encode(example.text_b).ids
        wanted = [model.marks.first, *a, *([] if b is None else [model.marks.between, *b]), model.marks.last]
        assert one.ids.tolist() == wanted


def test_asked_in_batches_each_input_is_told_as_if_it_were_alone() -> None:
    model = with_some_weights(tiny())
    task = made("text", model, {"train": 12, "val": 9})
    one_by_one = [model(torch.from_numpy(one.ids)[None])[0].detach() for one in task.inputs["val"]]
    for said, wanted in zip(answers(model, task.inputs["val"], batch_size=4), one_by_one, strict=True):
        np.testing.assert_allclose(said, wanted, rtol=0, atol=1e-4)
    (labels, ids, packing), n = task.batch(model, [7, 2, 11, 0, 1])
    assert n == len(labels) == len(ids) == 5
    assert packing is None or packing.causal
    loss, _ = loss_of(task, model, [7, 2, 11, 0, 1])
    torch.testing.assert_close(loss, model.loss(labels, ids), rtol=1e-4, atol=1e-4)


def test_byte_pairs_need_the_marks_of_the_head() -> None:
    tokenizer, parts = byte_pairs("gpt2"), parts_of("text", {"train": 3, "val": 3})
    with pytest.raises(ValueError, match="have no special tokens of their own: give the `marks`"):
        Classification(parts, ("no", "yes"), tokenizer)
    task = Classification(parts, ("no", "yes"), tokenizer, marks=Marks(300, 301, 302))
    wanted = join_texts(tokenizer.encode(parts["val"][0].text).ids, None, Marks(300, 301, 302))
    assert task.inputs["val"][0].ids.tolist() == wanted.ids.tolist()


def test_each_layer_of_a_gpt_learns_at_its_share_of_the_rate() -> None:
    factor = layer_factors(tiny(), decay=0.5)
    names = ("gpt.embeddings.token", "gpt.encoder.layers.0.x", "gpt.encoder.layers.1.x", "classifier")
    assert [factor(f"{name}.weight") for name in names] == [0.25, 0.5, 1.0, 1.0]
