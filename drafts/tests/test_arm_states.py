"""A word is taken where it has been read: of each direction at its end, of others the mean of its pieces."""

from __future__ import annotations

import numpy as np
import torch
from _arm_states import Text, features, laid_out, mean_of, word_of
from _arms_made import Size, World, make

from bertlab.datasets.documents import Document
from bertlab.text import SPECIAL, WordPiece, tokenise

LAYER = torch.arange(2 * 5 * 4, dtype=torch.float32).view(2, 5, 4)
SPANS = torch.tensor([[0, 1, 3], [1, 2, 2]])


def test_means_are_over_all_pieces_of_a_span():
    torch.testing.assert_close(mean_of(LAYER, SPANS), torch.stack([LAYER[0, 1:4].mean(0), LAYER[1, 2]]))


def test_a_direction_is_taken_where_it_has_read_the_word():
    torch.testing.assert_close(word_of(LAYER, SPANS, "left")[0], LAYER[0, 3])
    torch.testing.assert_close(
        word_of(LAYER, SPANS, "each")[0], torch.cat([LAYER[0, 3, :2], LAYER[0, 1, 2:]])
    )
    torch.testing.assert_close(word_of(LAYER, SPANS, "both"), mean_of(LAYER, SPANS))


def test_texts_of_a_batch_keep_their_order_and_spans():
    ids, segments, spans = laid_out(
        [Text([2, 5, 3], [0, 0, 0], [(1, 1)]), Text([2, 3], [0, 1], [(0, 0), (1, 1)])]
    )
    assert ids.tolist() == [[2, 5, 3], [2, 3, 0]]
    assert segments.tolist() == [[0, 0, 0], [0, 1, 0]]
    assert spans.tolist() == [[0, 1, 1], [1, 0, 0], [1, 1, 1]]


def test_features_come_in_the_order_of_the_texts_whatever_their_length():
    vocab = WordPiece([*SPECIAL, *"abcdef"])
    world = World(vocab, tokenise([Document(["a b c d e f"] * 9, "x")], vocab), Size(8, 2, 2, 16), 2, False)
    rng = np.random.default_rng(0)
    texts = []
    for n in rng.integers(3, 12, 90):
        ids = [2, *rng.integers(5, 11, n).tolist(), 3]
        texts.append(Text(ids, [0] * len(ids), [(1, 2), (2, 2)]))
    for name in ("BERT", "ELMo", "two GPTs", "GPT", "CBOW"):
        arm = make(name, world, 0)
        found = features(arm, texts, words=True)
        alone = [features(arm, [one], words=True) for one in texts[:5]]
        np.testing.assert_allclose(found[:, :10], np.concatenate(alone, 1), atol=1e-5)
        assert found.shape[0] == (1 if name == "CBOW" else 3)
