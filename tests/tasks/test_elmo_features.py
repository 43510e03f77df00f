"""Each direction is asked where it has read the whole word; the tagger mixes ELMo's layers like BERT's."""

from __future__ import annotations

import numpy as np
import torch

from bertlab.nn import ELMo, ELMoConfig
from bertlab.tasks.elmo_features import elmo_states, span_states, word_spans
from bertlab.tasks.entities import TaggedSentence, word_inputs
from bertlab.tasks.features import FeatureTagger
from bertlab.text import SPECIAL, WordPiece

PIECES = WordPiece([*SPECIAL, "ivo", "hart", "##well", "##s", "saw", "."])
D = 6


def some_elmo() -> ELMo:
    torch.manual_seed(0)
    return ELMo(ELMoConfig(vocab_size=len(PIECES), d_model=D, d_memory=8, n_characters=0, dropout=0.5))


def sentence(*words: str) -> TaggedSentence:
    return TaggedSentence(words, ("O",) * len(words))


def test_a_span_is_from_the_first_to_the_last_piece_of_a_word() -> None:
    found = word_inputs(["Ivo", "Hartwells", "saw", "hart"], PIECES)
    assert word_spans(found).tolist() == [[1, 1], [2, 4], [5, 5], [6, 6]]
    cut = word_inputs(["Ivo", "Hartwells", "saw"], PIECES, max_length=5, truncation="only_first")
    assert word_spans(cut).tolist() == [[1, 1], [2, 3]]  # of the second word two pieces are left


def test_each_direction_is_taken_where_it_leaves_the_word_and_embeddings_are_averaged() -> None:
    layers = torch.arange(3 * 5 * 4.0).view(3, 5, 4)  # L + 1, T, 2D
    found = span_states(layers, np.array([[1, 3], [4, 4]]))
    for i in (1, 2):
        assert torch.equal(found[i, 0], torch.cat([layers[i, 3, :2], layers[i, 1, 2:]]))
        assert torch.equal(found[i, 1], layers[i, 4])
    assert torch.equal(found[0, 0], layers[0, 1:4].mean(0))
    assert torch.equal(found[0, 1], layers[0, 4])


def test_states_are_those_of_each_sentence_alone_in_evaluation() -> None:
    elmo = some_elmo()
    some = [sentence("Ivo", "saw", "Hartwells", "."), sentence("Hartwell"), sentence("saw", "ivo")]
    found = elmo_states(elmo, PIECES, some, batch_size=2)
    for one, states in zip(some, found, strict=True):
        inputs = word_inputs(one.words, PIECES)
        with torch.no_grad():
            layers = torch.stack(elmo(torch.from_numpy(inputs.inputs.ids)[None]).layers)[:, 0]
        assert states.shape == (3, len(one.words), 2 * D)
        assert states.dtype == torch.float16
        torch.testing.assert_close(
            states.float(), span_states(layers, word_spans(inputs)), atol=1e-2, rtol=1e-2
        )


def test_the_state_of_a_word_depends_on_all_its_pieces_in_both_halves() -> None:
    elmo = some_elmo()
    one, other = elmo_states(elmo, PIECES, [sentence("saw", "hart", "."), sentence("saw", "hartwell", ".")])
    for half in (slice(D), slice(D, None)):
        assert not torch.allclose(one[2, 1, half].float(), other[2, 1, half].float(), atol=1e-3)


def test_the_tagger_of_bert_mixes_the_layers_of_elmo() -> None:
    states = elmo_states(some_elmo(), PIECES, [sentence("Ivo", "saw", "."), sentence("hart")])
    tagger = FeatureTagger("scalar mix", n_layers=2, d_model=2 * D, n_labels=3, hidden=4)
    assert tagger(states).shape == (2, 3, 3)
    tagger.loss(torch.tensor([[0, 1, 2], [1, -100, -100]]), states).backward()
    assert tagger.choice.weights.shape == (3,)
    assert tagger.choice.weights.grad.abs().sum() > 0
