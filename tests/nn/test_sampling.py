"""Claims about writing a text by chance: which tokens can come with which probability, and that a cache saves
work and changes nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bertlab.nn import GPT, generate
from bertlab.nn.sampling import next_token_probabilities
from tests.nn.their_gpt import SMALL, configs, some_gpt, their_twin

HALVES = torch.tensor([0.5, 0.25, 0.15, 0.1], dtype=torch.float64).log()
Orders = pytest.mark.parametrize("norm_first", [False, True], ids=["GPT-1", "GPT-2"])


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def by_hand(logits: list[float], temperature: float, top_k: int | None, top_p: float | None) -> list[float]:
    """One number at a time: the definition."""
    weights = {i: 2.718281828459045 ** (x / temperature) for i, x in enumerate(logits)}
    best_first = sorted(weights, key=lambda i: (-weights[i], i))
    kept = best_first[:top_k]
    share = {i: weights[i] / sum(weights[j] for j in kept) for i in kept}
    if top_p is not None:
        enough = next(n for n in range(1, len(kept) + 1) if n == len(kept) or _sum(share, kept[:n]) >= top_p)
        kept = kept[:enough]
    return [weights[i] / _sum(weights, kept) if i in kept else 0.0 for i in range(len(logits))]


def _sum(values: dict[int, float], some: list[int]) -> float:
    return sum(values[i] for i in some)


@settings(max_examples=60)
@given(
    logits=st.lists(st.floats(-4, 4, width=32), min_size=1, max_size=9, unique=True),
    temperature=st.sampled_from([0.3, 1.0, 2.5]),
    top_k=st.none() | st.integers(1, 10),
    top_p=st.none() | st.floats(0.05, 0.95),
)
def test_probabilities_are_those_of_the_definition(
    logits: list[float], temperature: float, top_k: int | None, top_p: float | None
) -> None:
    found = next_token_probabilities(torch.tensor([logits], dtype=torch.float64), temperature, top_k, top_p)
    wanted = torch.tensor([by_hand(logits, temperature, top_k, top_p)], dtype=torch.float64)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-9)


@settings(max_examples=30)
@given(seed=st.integers(0, 999), temperature=st.sampled_from([0.5, 1.0, 2.0]), top_k=st.integers(1, 30))
def test_they_are_those_of_transformers(seed: int, temperature: float, top_k: int) -> None:
    logits = torch.randn(3, 20, dtype=torch.float64, generator=chance(seed))
    top_p = 0.05 + 0.9 * torch.rand(1, generator=chance(seed)).item()
    theirs: Tensor = transformers.TemperatureLogitsWarper(temperature)(None, logits)
    theirs = transformers.TopKLogitsWarper(top_k)(None, theirs)
    theirs = transformers.TopPLogitsWarper(top_p)(None, theirs)
    ours = next_token_probabilities(logits, temperature, top_k, top_p)
    torch.testing.assert_close(ours, theirs.softmax(-1), rtol=0, atol=1e-12)


def test_temperature_sharpens_or_evens_out_and_zero_leaves_the_best_alone() -> None:
    sharp, plain, even = (next_token_probabilities(HALVES, t) for t in (0.5, 1.0, 100.0))
    torch.testing.assert_close(plain, HALVES.exp())
    assert sharp[0] > plain[0] > even[0]
    assert (even - 0.25).abs().max() < 0.01
    assert next_token_probabilities(HALVES, 0.0).tolist() == [1, 0, 0, 0]
    assert next_token_probabilities(HALVES, 1e-30).tolist() == [1, 0, 0, 0]
    assert next_token_probabilities(torch.tensor([1e4, 0.0]), 1e-36).tolist() == [1, 0]  # overflows nowhere


def test_of_equals_the_lower_id_is_kept() -> None:
    even = torch.zeros(6)
    assert next_token_probabilities(even, top_k=2).tolist() == [0.5, 0.5, 0, 0, 0, 0]
    assert next_token_probabilities(even, top_p=0.4).nonzero()[:, 0].tolist() == [0, 1, 2]
    assert next_token_probabilities(even, temperature=0).tolist() == [1, 0, 0, 0, 0, 0]


def test_top_p_keeps_at_least_one_token_and_at_one_all() -> None:
    assert next_token_probabilities(HALVES, top_p=1e-9).tolist() == [1, 0, 0, 0]
    logits = torch.randn(50_000, generator=chance())
    assert (next_token_probabilities(logits, top_p=1.0) > 0).all()


def test_half_precision_is_widened_before_the_softmax() -> None:
    logits = torch.randn(1000, generator=chance()).to(torch.bfloat16)
    found = next_token_probabilities(logits, top_p=0.5)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, next_token_probabilities(logits.float(), top_p=0.5))


def test_tokens_are_drawn_as_often_as_their_probabilities_say() -> None:
    """6,000 texts of one token each; four standard deviations."""
    model = some_gpt(replace(SMALL, vocab_size=5)).float()
    prompt = torch.tensor([[2, 3]])
    options = {"temperature": 1.5, "top_k": 3}
    wanted = next_token_probabilities(model(prompt).logits[0, -1], **options)
    drawn = generate(model, prompt.expand(6000, -1), 1, generator=chance(), **options)
    counts = Counter(drawn[:, 0].tolist())
    for token, p in enumerate(wanted.tolist()):
        assert abs(counts[token] / 6000 - p) <= 4 * (p * (1 - p) / 6000) ** 0.5
    assert (wanted > 0).sum() == 3


@settings(max_examples=8)
@given(data=st.data())
def test_the_most_probable_text_is_that_of_transformers_token_for_token(data: st.DataObject) -> None:
    config = replace(data.draw(configs()), max_positions=14)
    ours = some_gpt(config, data.draw(st.integers(0, 99)))
    prompt = torch.randint(0, config.vocab_size, (2, data.draw(st.integers(1, 5))))
    plain = generate(ours, prompt, 8, temperature=0)
    end = int(plain[0, 3])  # so that one text ends
    ours.config = replace(config, end_id=end)
    theirs = their_twin(ours).generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=8
    )
    found = generate(ours, prompt, 8, temperature=0)
    assert torch.equal(found, theirs[:, prompt.shape[1] :])


def without_cache(model: GPT, prompt: Tensor, n: int, generator: torch.Generator, **options: Any) -> Tensor:
    """The definition: read all of the text again for each token."""
    ids = prompt
    for _ in range(n):
        p = next_token_probabilities(model(ids).logits[:, -1], **options)
        ids = torch.cat([ids, torch.multinomial(p, 1, generator=generator)], dim=1)
    return ids[:, prompt.shape[1] :]


@Orders
@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize("options", [{}, {"temperature": 0.7, "top_k": 8}, {"top_p": 0.9}], ids=str)
def test_with_and_without_a_cache_the_text_is_the_same(
    norm_first: bool, length: int, options: dict[str, Any]
) -> None:
    model = some_gpt(replace(SMALL, norm_first=norm_first))
    prompt = torch.randint(0, 40, (3, length), generator=chance(1))
    found = generate(model, prompt, 20, generator=chance(2), **options)
    assert torch.equal(found, without_cache(model, prompt, 20, chance(2), **options))


def test_each_token_is_read_once() -> None:
    model = some_gpt()
    read: list[int] = []
    model.embeddings.register_forward_hook(lambda _, inputs, __: read.append(inputs[0].shape[1]))
    generate(model, torch.tensor([[5, 6, 7, 8]]), 5, temperature=0)
    assert read == [3, 1, 1, 1, 1, 1]


def test_one_seed_gives_one_text_and_another_seed_another() -> None:
    model, prompt = some_gpt(), torch.tensor([[5, 6]])
    one, again, other = (generate(model, prompt, 12, generator=chance(seed)) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_a_row_is_padded_after_its_end_while_others_go_on() -> None:
    model = some_gpt(replace(SMALL, end_id=3, pad_id=39))
    ids = generate(model, torch.randint(0, 40, (32, 2), generator=chance()), 12, generator=chance())
    after_end = (ids == 3).cumsum(dim=1) - (ids == 3).int() > 0
    assert after_end.any()
    assert (~after_end[:, -1]).any()
    assert (ids[after_end] == 39).all()
    with torch.no_grad():
        model.embeddings.token.weight.zero_()
        model.embeddings.token.weight[3] = 1.0  # all states of a kind: the end, or what scores 0
        model.encoder.layers[-1].feed_forward_residual.norm.bias.fill_(9.0)
    assert generate(model, torch.tensor([[5]]), 12, temperature=0).tolist() == [[3]]


def test_writing_is_done_in_evaluation_and_leaves_the_model_as_it_was() -> None:
    model = some_gpt(replace(SMALL, dropout=0.9, attention_dropout=0.9))
    prompt = torch.tensor([[5, 6]])
    wanted = generate(model, prompt, 8, temperature=0)
    for training in (True, False):
        assert torch.equal(generate(model.train(training), prompt, 8, temperature=0), wanted)
        assert model.training is training


def test_D08_a_text_beyond_the_table_of_positions_is_refused_before_it_is_begun() -> None:
    model = some_gpt()
    assert generate(model, torch.tensor([[5] * 20]), 5, temperature=0).shape == (1, 5)  # the last is not read
    with pytest.raises(ValueError, match=r"25.*24"):
        generate(model, torch.tensor([[5] * 20]), 6, temperature=0)


@pytest.mark.parametrize(
    ("prompt", "options", "sentence"),
    [
        ([[5]], {}, r"generator=None, but tokens are drawn: give torch.Generator\(\)"),
        ([[5]], {"max_length": 0, "temperature": 0}, "max_length=0: allow at least 1"),
        ([[5]], {"temperature": -1.0}, "temperature=-1.0: choose 0 or more"),
        ([[5]], {"temperature": float("nan")}, "temperature=nan: choose 0 or more"),
        ([[5]], {"top_k": 0}, "top_k=0: keep at least 1 token"),
        ([[5]], {"top_p": 0.0}, "top_p=0.0: choose a probability above 0, at most 1"),
        ([[5]], {"top_p": 1.5}, "top_p=1.5"),
        ([[]], {"temperature": 0}, r"shape \(1, 0\) is no beginning \(B, T\): give at least one token"),
        ([5], {"temperature": 0}, r"shape \(1,\) is no beginning"),
    ],
)
def test_what_makes_no_text_gets_one_sentence(prompt: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        generate(some_gpt(), torch.tensor(prompt).long(), **{"max_length": 3, **options})
