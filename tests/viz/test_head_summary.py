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
    assert [pattern.name for pattern in summary.patterns] == [*looked_at, "one token"]
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
    assert [pattern.name for pattern in summarise(layers).patterns] == ["first token", "</s>", "one token"]


def test_one_token_alone_has_no_neighbours():
    summary = summarise(AttentionLayers(np.ones((1, 1)), ["a"]))
    assert [pattern.name for pattern in summary.patterns] == ["itself", "first token"]
    assert in_words(summary, 0, 0).startswith("Practically all of its weight goes to the token itself.")


def test_a_special_token_at_both_ends_gives_two_names():
    names = [p.name for p in summarise(AttentionLayers(np.eye(3), ["</s>", "a", "</s>"])).patterns]
    assert names[-3:] == ["</s>", "other special", "one token"]


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
        ([0.3, 0.3, 0.4], "40 % of its weight goes to the token after; an even row would give 6 %. "),
        ([0.08, 0.08, 0.09], "No clear pattern: "),
    ],
)
def test_a_head_is_told_by_where_most_goes(row, said):
    summary = summarise(AttentionLayers(np.eye(16), ["a"] * 16))
    summary.shares[0][0] = [row[1], row[0], row[2], 0.05, 0.05]
    assert in_words(summary, 0, 0).startswith(said)


def test_a_head_that_looks_nowhere_in_particular_is_told_so():
    summary = summarise(AttentionLayers(np.full((16, 16), 1 / 16), ["a"] * 16))
    assert in_words(summary, 0, 0) == (
        "No clear pattern: no kind of place gets much more than an even row would give it. "
        "A row spreads as if evenly over 16.0 tokens (4.00 bits)."
    )


def test_what_chance_gives_to_many_keys_is_no_pattern():
    even = np.where(np.array([token != "[PAD]" for token in PAIR]), 1 / 7, 0) * np.ones((9, 1))
    summary = summarise(AttentionLayers(even, PAIR, sentence_b=4))
    np.testing.assert_allclose(summary.shares[0][0], summary.even, atol=1e-6)
    assert share(summary, "other sentence", 0, 0) > 0.25
    assert in_words(summary, 0, 0).startswith("No clear pattern")


def test_a_content_token_that_all_look_at_is_told_by_name_and_position(rng):
    weights = np.full((1, 9, 9), 0.05)
    weights[:, :, 2] = 0.6
    weights[:, 7:] = np.eye(9)[4]  # what padding looks at does not count
    summary = summarise(AttentionLayers(weights, PAIR, sentence_b=4))
    assert summary.columns[0].tolist() == [2]
    assert share(summary, "one token", 0, 0) == pytest.approx(0.6)
    said = in_words(summary, 0, 0).replace("\u2068", "").replace("\u2069", "")
    assert said.startswith("Most of its weight, 60 %, goes to one token, “cat” (position 2). ")
    assert strongest(summary, "one token") == [(0, 0, "60 %")]


def test_the_first_and_special_tokens_are_never_the_one_token(rng):
    weights = np.zeros((1, 9, 9))
    weights[:, :, [0, 3, 6]] = 0.3
    weights[:, :, 4] = 0.1
    assert summarise(AttentionLayers(weights, PAIR)).columns[0].tolist() == [4]
    assert "one token" not in {p.name for p in summarise(AttentionLayers(np.eye(2), ["a", "[SEP]"])).patterns}


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
