"""The six choices take the layers that they name; the tagger sees no padding; features are frozen states."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.tasks.entities import TaggedSentence, word_inputs
from bertlab.tasks.features import CHOICES, FeatureEntities, FeatureTagger, LayerChoice, word_states
from bertlab.tasks.finetune import FineTuning, fine_tune
from tests.interop.small_bert import some_bert, tokenizer

L, D = 6, 4
LAYERS = torch.arange(1.0, L + 2)[:, None, None] * torch.ones(L + 1, 3, D)  # layer i says i + 1 everywhere


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ("embeddings", [1.0]),
        ("second to last", [6.0]),
        ("last", [7.0]),
        ("weighted sum of the last four", [5.5]),  # 4, 5, 6 and 7, weighted alike at first
        ("last four side by side", [4.0, 5.0, 6.0, 7.0]),
        ("weighted sum of all", [4.5]),  # 2 to 7: the embeddings are no layer
        ("scalar mix", [4.0]),  # 1 to 7: ELMo's counts them
    ],
)
def test_each_choice_takes_the_layers_that_it_names(choice, says):
    chosen = LayerChoice(choice, L, D)
    out = chosen(LAYERS)
    assert out.shape == (3, chosen.width)
    torch.testing.assert_close(out[0], torch.tensor(says).repeat_interleave(D))


def test_the_paper_has_six():
    assert len(CHOICES) == 6


def test_a_weighted_sum_learns_its_weights_and_its_factor():
    chosen = LayerChoice("weighted sum of the last four", L, D)
    with torch.no_grad():
        chosen.weights[1], chosen.factor[...] = 50.0, 2.0
    torch.testing.assert_close(chosen(LAYERS), torch.full((3, D), 2 * 5.0))
    chosen(LAYERS).sum().backward()
    assert chosen.weights.grad is not None
    assert chosen.factor.grad == pytest.approx(3 * D * 5.0)


def test_what_cannot_be_chosen_is_refused():
    with pytest.raises(ValueError, match="'first' is no choice of layers: choose one of embeddings"):
        LayerChoice("first", L, D)
    with pytest.raises(ValueError, match="of 3 layers: take a model with four layers or more"):
        LayerChoice("last four side by side", 3, D)
    LayerChoice("weighted sum of all", 2, D)


def test_padding_and_neighbours_in_the_batch_change_nothing():
    torch.manual_seed(0)
    tagger = FeatureTagger("weighted sum of all", L, D, n_labels=3, hidden=8).eval()
    short, long = torch.randn(L + 1, 2, D), torch.randn(L + 1, 5, D)
    with torch.no_grad():
        together, alone = tagger([long, short]), tagger([short])
    torch.testing.assert_close(together[1, :2], alone[0])
    assert together.shape == (2, 5, 3)


def test_the_tagger_reads_both_sides():
    torch.manual_seed(0)
    tagger = FeatureTagger("last", L, D, n_labels=3, hidden=8).eval()
    one = torch.randn(L + 1, 5, D)
    for place in (0, 4):
        other = one.clone()
        other[:, place] += 1
        with torch.no_grad():
            assert not torch.allclose(tagger([one])[0, 2], tagger([other])[0, 2])


def test_features_are_what_the_layers_say_at_first_pieces():
    bert, pieces = some_bert("bare").eval(), tokenizer()
    words = [("the", "playing", "dog"), ("dogs",), ("a", "dog", "the", "!", "a")]
    found = word_states(bert, pieces, [TaggedSentence(one, ("O",) * len(one)) for one in words])
    for one, states in zip(words, found, strict=True):
        inputs = word_inputs(one, pieces)
        with torch.no_grad():
            layers = torch.stack(bert(torch.from_numpy(inputs.inputs.ids)[None]).layers)[:, 0]
        assert states.dtype == torch.float16
        torch.testing.assert_close(states.float(), layers[:, inputs.firsts], atol=2e-2, rtol=1e-3)


def test_entities_are_learnt_from_features_and_words_that_were_cut_off_are_missed():
    rng, labels = np.random.default_rng(0), ("O", "B-PER", "I-PER")
    directions = torch.randn(3, L + 1, D)

    def sentences(n):
        made = []
        for _ in range(n):
            names = [("O",), ("B-PER",), ("B-PER", "I-PER")]
            told = [name for _ in range(3) for name in names[rng.integers(3)]]
            made.append(TaggedSentence(tuple("w" for _ in told), tuple(told)))
        return made

    def states(some):
        index = [[labels.index(label) for label in one.labels] for one in some]
        return [directions[ids].transpose(0, 1).half() for ids in index]

    parts = {"train": sentences(200), "val": sentences(40)}
    task = FeatureEntities({part: states(some) for part, some in parts.items()}, parts, labels)
    torch.manual_seed(0)
    tagger = FeatureTagger("last", L, D, n_labels=3, hidden=16, dropout=0.0)
    tuned = fine_tune(tagger, task, FineTuning(epochs=6, batch_size=16, rate=1e-2))
    assert tuned.scores["f1"] > 0.9
    task.states["val"] = [one[:, :1] for one in task.states["val"]]
    assert task.scores(tagger, "val")["f1"] < 0.6
