"""The exam on stories is fair: blanks where words were, names told apart, the best answers really best."""

from __future__ import annotations

import torch

from bert_stories import GRAMMAR, NEVER, blanks, bounds, measure, neighbours, vocabulary
from bertlab.nn import BertConfig, BertForPreTraining


def test_every_blank_has_its_answer_and_nothing_else_is_hidden():
    asked, vocab = blanks(), vocabulary()
    assert (
        (asked.batch.ids == vocab.mask_id).sum() == len(asked.answers) == len(asked.best) == len(asked.names)
    )
    words = [vocab.vocab[i] for i in asked.answers]
    assert not NEVER & set(words)
    assert [word in GRAMMAR.name_words for word in words] == asked.names.tolist()
    assert vocab.unk_id not in asked.batch.ids


def test_the_best_are_between_a_guess_and_certainty():
    found = bounds()
    assert 0.08 < found["most_frequent_word"] < 0.15
    assert found["names"] < found["words"] < found["others"] < 1
    assert 0.9 < found["next_sentence"] < 1


def test_half_of_the_pairs_are_neighbours():
    pairs = neighbours()
    assert pairs.answers.mean() == 0.5
    assert (pairs.best >= 0.5).all()


def test_an_untrained_model_guesses():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary()), d_model=16, n_layers=1, n_heads=2, d_ff=16, max_positions=128
    )
    found = measure(BertForPreTraining(config).eval())
    assert found["words"] < 0.05
    assert abs(found["next_sentence"] - 0.5) < 0.1
