"""What a head does in numbers: every share and entropy against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.viz.attentions import AttentionLayers
from bertlab.viz.head_summary import in_words, strongest, summarise
from bertlab.viz.payload import entropy

PAIR = ["[CLS]", "the", "cat", "[SEP]", "it", "sat", "[SEP]", "[PAD]", "[PAD]"]


def random_layers(rng, n_queries, n_keys, heads=(2, 3)):
    return [rng.dirichlet(np.full(n_keys, 0.3), size=(h, n_queries)).astype(np.float32) for h in heads]


def share(summary, name, layer, head):
    return summary.shares[layer][head][[pattern.name for pattern in summary.patterns].index(name)]


def test_each_share_is_the_mean_over_real_queries_of_what_goes_to_such_keys(rng):
    weights = random_layers(rng, 9, 9)
    summary = summarise(AttentionLayers(weights, PAIR, sentence_b=4))
    special = {0, 3, 6, 7, 8}
    looked_at = {
        "itself": lambda q: {q},
        "previous": lambda q: {q - 1} - {-1},
        "next": lambda q: {q + 1} - {9},
        "[CLS]": lambda q: {0},
        "[SEP]": lambda q: {3, 6},
        "other sentence": lambda q: {k for k in range(9) if (k >= 4) != (q >= 4) and k not in special},
    }
    assert [pattern.name for pattern in summary.patterns] == list(looked_at)
    for layer, head in ((0, 1), (1, 2)):
        for name, keys in looked_at.items():
            rows = [q for q in range(7) if name not in ("previous", "next") or keys(q)]  # 7, 8 are padding
            by_hand = np.mean([sum(weights[layer][head][q, k] for k in keys(q)) for q in rows])
            assert share(summary, name, layer, head) == pytest.approx(by_hand, abs=1e-6), name


def test_the_entropy_is_that_of_the_rows_of_real_queries(rng):
    weights = random_layers(rng, 9, 9)
    weights[0][0][2] = np.eye(9)[1]  # a row of zeros and a one
    summary = summarise(AttentionLayers(weights, PAIR))
    for layer in (0, 1):
        by_hand = entropy(weights[layer][:, :7]).mean(axis=1)
        np.testing.assert_allclose(summary.bits[layer], by_hand, atol=1e-5)


def test_between_two_sentences_there_is_no_token_itself_nor_a_neighbour(rng):
    layers = AttentionLayers(random_layers(rng, 2, 3), ["ein", "Hund"], ["a", "dog", "</s>"])
    assert [pattern.name for pattern in summarise(layers).patterns] == ["first token", "</s>"]


def test_one_token_alone_has_no_neighbours():
    summary = summarise(AttentionLayers(np.ones((1, 1)), ["a"]))
    assert [pattern.name for pattern in summary.patterns] == ["itself", "first token"]
    assert in_words(summary, 0, 0).startswith("Practically all of its weight goes to the token itself.")


def test_a_special_token_at_both_ends_gives_two_names():
    names = [p.name for p in summarise(AttentionLayers(np.eye(3), ["</s>", "a", "</s>"])).patterns]
    assert names[-2:] == ["</s>", "other special"]


def test_a_sentence_of_padding_alone_is_summed_up_all_the_same():
    summary = summarise(AttentionLayers(np.eye(2), ["[PAD]", "[PAD]"]))
    assert share(summary, "itself", 0, 0) == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            [0, 1, 0],
            "Practically all of its weight goes to the token itself. A row spreads as if evenly over 1.0",
        ),
        ([0.2, 0.7, 0.1], "Most of its weight, 70 %, goes to the token itself. "),
        ([0.3, 0.3, 0.4], "More than to any other kind of place, 40 %, goes to the token after. "),
    ],
)
def test_a_head_is_told_by_where_most_goes(row, said):
    weights = np.zeros((3, 3))
    for query in range(3):
        for offset, part in zip((-1, 0, 1), row, strict=True):
            weights[query, (query + offset) % 3] = part
    layers = AttentionLayers(weights, ["a", "b", "c"])
    summary = summarise(layers)
    summary.shares[0][0] = [row[1], row[0], row[2], 0.05]  # without what wraps round
    assert in_words(summary, 0, 0).startswith(said)


def test_a_head_that_looks_nowhere_in_particular_is_told_so():
    summary = summarise(AttentionLayers(np.full((16, 16), 1 / 16), ["a"] * 16))
    assert in_words(summary, 0, 0) == (
        "No kind of place gets as much as a tenth of its weight. "
        "A row spreads as if evenly over 16.0 tokens (4.00 bits)."
    )


def test_heads_are_ranked_over_all_layers_and_weak_ones_left_out(rng):
    strong, weak = np.eye(12, k=-1), np.full((12, 12), 1 / 12)
    strong[0, 0] = 1
    summary = summarise(
        AttentionLayers([np.stack([weak, 0.6 * strong + 0.4 * weak]), strong[None]], ["a"] * 12)
    )
    assert strongest(summary, "previous") == [(1, 0, "100 %"), (0, 1, "63 %")]
    assert [place[:2] for place in strongest(summary, "spread")] == [(0, 0), (0, 1), (1, 0)]
    assert strongest(summary, "spread", most=1) == [(0, 0, "3.58 bits")]
    assert strongest(summary, "next") == []


def test_of_equal_heads_the_first_comes_first():
    summary = summarise(AttentionLayers([np.stack([np.eye(3)] * 3)] * 3, list("abc")))
    assert [place[:2] for place in strongest(summary, "itself")] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]


def test_an_unknown_pattern_is_refused_with_those_there_are():
    summary = summarise(AttentionLayers(np.eye(2), ["[CLS]", "a"]))
    with pytest.raises(
        ValueError, match="mark='previos': heads can be marked by itself, previous, next, \\["
    ):
        strongest(summary, "previos")
