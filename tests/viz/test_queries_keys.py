"""Queries and keys from any model, and the scores and weights that come of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.nn.attention import scaled_dot_product_attention
from bertlab.nn.masking import causal_mask, padding_mask
from bertlab.reference.attention import scaled_dot_product_attention as attend_by_formula
from bertlab.viz.queries_keys import QueryKeyLayers, largest_first, score_keys

WORDS = ["the", "cat", "saw", "the", "dog"]


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def hooked(model, run):
    """Queries and keys of every layer of a BERT of transformers, caught by hooks, split into heads."""
    caught = {"query": [], "key": []}
    n_heads = model.config.num_attention_heads

    def catch(to):
        return lambda _, __, out: to.append(out.unflatten(-1, (n_heads, -1)).transpose(1, 2))

    hooks = [
        getattr(layer.attention.self, side).register_forward_hook(catch(caught[side]))
        for layer in model.encoder.layer
        for side in caught
    ]
    out = run(model)
    for hook in hooks:
        hook.remove()
    return caught["query"], caught["key"], out


def weights_of(layers, layer, head):
    """(Tq, Tk): the weights of all queries of one head."""
    masks = [None] * len(layers.query_tokens) if layers.mask is None else layers.mask
    q, k = layers.queries[layer][head], layers.keys[layer][head]
    pairs = zip(q, masks, strict=True)
    return np.stack([score_keys(row, k, mask, layers.scales[layer]).weights for row, mask in pairs])


def test_products_sum_to_scores_and_scores_make_the_weights_of_both_wings(rng):
    q, k = rng.normal(size=(5, 8)), rng.normal(size=(5, 8))
    causal = causal_mask(5)
    layers = QueryKeyLayers(q[None], k[None], WORDS, mask=causal)
    for i in range(5):
        scored = score_keys(q[i], k, layers.mask[i])
        np.testing.assert_allclose(
            scored.products, [[a * b for a, b in zip(q[i], row, strict=True)] for row in k]
        )
        np.testing.assert_allclose(scored.products.sum(axis=1), scored.scores)
        np.testing.assert_allclose(scored.scaled, k @ q[i] / np.sqrt(8))
    by_formula = attend_by_formula(q, k, k, causal.numpy())[1]
    np.testing.assert_allclose(weights_of(layers, 0, 0), by_formula, atol=1e-12)
    ours = scaled_dot_product_attention(*map(torch.from_numpy, (q, k, k)), causal)[1]
    np.testing.assert_allclose(weights_of(layers, 0, 0), ours, atol=1e-12)


def test_weights_are_those_of_transformers_bert_from_which_hooks_took_queries_and_keys():
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 8}
    config = BertConfig(vocab_size=30, **sizes, attn_implementation="eager", initializer_range=0.7)
    ids = torch.tensor([[5, 6, 7, 0, 0]])
    queries, keys, out = hooked(
        BertModel(config).eval(),
        lambda model: model(ids, attention_mask=(ids != 0).long(), output_attentions=True),
    )
    layers = QueryKeyLayers(queries, keys, WORDS, mask=padding_mask(ids))
    assert (layers.heads, layers.widths) == ([3, 3], [4, 4])
    for layer in range(2):
        for head in range(3):
            theirs = out.attentions[layer][0, head].detach()
            assert theirs.std() > 0.1
            np.testing.assert_allclose(weights_of(layers, layer, head), theirs, atol=1e-5)


def test_a_query_that_may_attend_to_nothing_has_scores_but_no_weight(rng):
    scored = score_keys(rng.normal(size=4), rng.normal(size=(3, 4)), np.zeros(3, dtype=bool))
    assert scored.weights.tolist() == [0, 0, 0]
    assert (scored.scores != 0).all()


def test_a_hidden_key_takes_nothing_even_from_the_lowest_of_scores():
    scored = score_keys([1.0], [[-1e6], [5.0]], np.array([True, False]))
    assert scored.weights.tolist() == [1, 0]


def test_a_scale_of_1_leaves_scores_as_they_are_and_huge_scores_overflow_nothing():
    scored = score_keys([1.0], [[1e5], [2e5]], scale=1.0)
    assert scored.scaled.tolist() == [1e5, 2e5]
    assert scored.weights.tolist() == [0, 1]


def test_dimensions_go_from_what_raises_most_to_what_lowers_most():
    assert largest_first(np.array([0.0, -3.0, 2.0, 0.0])).tolist() == [2, 0, 3, 1]


def test_queries_and_keys_come_in_every_usual_form(rng):
    q = rng.normal(size=(2, 5, 4)).astype(np.float32)
    forms = [[q], q, q[None], (torch.from_numpy(q)[None].requires_grad_(),), [torch.from_numpy(q).double()]]
    for form in forms:
        layers = QueryKeyLayers(form, form, WORDS)
        assert layers.heads == [2]
        np.testing.assert_array_equal(layers.queries[0], q)
    assert QueryKeyLayers(q[0], q[0], WORDS).heads == [1]
    assert QueryKeyLayers(q[None, None].repeat(3, axis=0), [q] * 3, WORDS).heads == [2, 2, 2]
    assert np.shares_memory(QueryKeyLayers([q], [q], WORDS).keys[0], q)


def test_layers_may_differ_in_heads_and_width_and_keys_may_be_another_sentence(rng):
    queries = [rng.normal(size=(2, 5, 4)), rng.normal(size=(1, 5, 9))]
    keys = [rng.normal(size=(2, 3, 4)), rng.normal(size=(1, 3, 9))]
    layers = QueryKeyLayers(queries, keys, WORDS, ["le", "chat", "vit"])
    assert (layers.heads, layers.widths, layers.scales) == ([2, 1], [4, 9], [2.0, 3.0])
    assert layers.size == 2 * (5 + 3) * 4 + (5 + 3) * 9
    assert QueryKeyLayers(queries, keys, WORDS, ["le", "chat", "vit"], scale=1).scales == [1.0, 1.0]


@pytest.mark.parametrize(
    ("queries", "keys", "said"),
    [
        (None, (2, 5, 4), r"queries: nothing given \(None\): give one \(heads, tokens, width\)"),
        ((2, 5, 4), None, r"keys: nothing given"),
        ((3, 2, 5, 4), (3, 2, 5, 4), r"queries has shape .*a batch of 3 examples: choose one"),
        ((2, 4, 4), (2, 4, 4), r"but 5 tokens need \(heads, 5, width of a head\): split .*unflatten"),
        ((2, 5, 4), (2, 5, 8), "queries are 4 wide and keys 8"),
        ((6, 5, 4), (2, 5, 4), r"6 heads of queries share 2 of keys: .*repeat_interleave\(3, dim=-3\)"),
        ((2, 5, 4), (3, 5, 4), "2 heads of queries, 3 of keys"),
        ((2, 5, 0), (2, 5, 0), "width of a head"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_fix(rng, queries, keys, said):
    given = [None if shape is None else rng.normal(size=shape) for shape in (queries, keys)]
    with pytest.raises(ValueError, match=said):
        QueryKeyLayers(*given, WORDS)


def test_layers_are_named_when_one_of_them_is_wrong(rng):
    good, batch = rng.normal(size=(2, 5, 4)), rng.normal(size=(3, 2, 5, 4))
    with pytest.raises(ValueError, match=r"layer 1 of keys has shape .*a batch of 3"):
        QueryKeyLayers([good, good], [good, batch], WORDS)
    with pytest.raises(ValueError, match="2 layers of queries, 1 of keys"):
        QueryKeyLayers([good, good], [good], WORDS)
    with pytest.raises(ValueError, match=r"queries\[0\] is a tuple, but a layer is one array or tensor"):
        QueryKeyLayers([(good, good)], [good], WORDS)
    with pytest.raises(ValueError, match="layer 0 of queries holds nan or infinity"):
        QueryKeyLayers([good * np.nan], [good], WORDS)


@pytest.mark.parametrize("scale", [0, -1.0, np.inf, np.nan])
def test_a_scale_that_cannot_divide_is_refused(rng, scale):
    q = rng.normal(size=(2, 5, 4))
    with pytest.raises(ValueError, match="scores are divided by it"):
        QueryKeyLayers(q, q, WORDS, scale=scale)


def test_a_mask_broadcasts_and_leading_axes_of_one_are_dropped(rng):
    q = rng.normal(size=(2, 5, 4))
    keys = np.array([True, True, False, False, False])
    for mask in (keys, keys[None], keys[None, None, None], torch.from_numpy(keys)):
        np.testing.assert_array_equal(QueryKeyLayers(q, q, WORDS, mask=mask).mask, [keys] * 5)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (torch.ones(1, 5, dtype=torch.long), "attention_mask == 1"),
        (np.zeros((5, 5)), "True = may be attended to"),
        (np.ones((2, 5, 5), dtype=bool), "one mask for all heads"),
        (np.ones((5, 4), dtype=bool), "does not broadcast to 5 queries and 5 keys"),
    ],
)
def test_a_mask_that_would_mean_something_else_is_refused(rng, mask, said):
    q = rng.normal(size=(2, 5, 4))
    with pytest.raises(ValueError, match=said):
        QueryKeyLayers(q, q, WORDS, mask=mask)
