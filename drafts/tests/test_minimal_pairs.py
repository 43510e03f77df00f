"""The right one of two sentences gets more; a pseudo-likelihood hides one piece at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from _minimal_pairs import by_bert, by_chances, judged, summary

from bertlab.nn import BertConfig, BertForPreTraining
from bertlab.text import SPECIAL, WordPiece

VOCAB = WordPiece([*SPECIAL, *"abcdefghij"])


def letters(sentences):
    """Give `a` more than all other letters."""
    return [np.where(ids == VOCAB.ids["a"], 0.5, 0.1) for ids in sentences]


def test_the_right_sentence_wins_loses_or_draws():
    pairs = [("a b", "c b"), ("c b", "a b"), ("b c", "c b")]
    assert judged(pairs, VOCAB, by_chances(letters)) == [[1.0, 1.0], [0.0, 1.0], [0.5, 1.0]]


def test_models_stand_side_by_side_and_are_compared_on_the_same_pairs():
    good, bad = [[1.0, 1.0]] * 30, [[0.0, 1.0]] * 30
    found = summary(
        {"one": {"npi": good, "verbs": good}, "other": {"npi": good, "verbs": bad}}, [("one", "other")]
    )
    assert found["models"]["other"]["all"]["accuracy"] == 0.5
    assert found["models"]["one"]["verbs"]["pairs"] == 30
    apart = {row["kind"]: row["difference"] for row in found["compared"]}
    assert apart == {"npi": 0.0, "verbs": 1.0, "all": 0.5}


def test_a_pseudo_likelihood_hides_each_piece_alone_and_shows_all_others():
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 32, "max_positions": 32}
    bert = BertForPreTraining(BertConfig(vocab_size=len(VOCAB), **sizes)).eval()
    for p in bert.parameters():
        torch.nn.init.normal_(p, std=0.3)
    sentences = [np.array([5, 6, 7]), np.array([8, 9])]
    found = by_bert(bert, VOCAB)(sentences)
    for ids, score in zip(sentences, found, strict=True):
        total = 0.0
        for place, right in enumerate(ids.tolist()):
            row = [VOCAB.cls_id, *ids.tolist(), VOCAB.sep_id]
            row[place + 1] = VOCAB.mask_id
            with torch.no_grad():
                log_p = bert(torch.tensor([row])).logits[0, place + 1].log_softmax(-1)
            total += float(log_p[right])
        assert score == pytest.approx(total, rel=1e-4)
