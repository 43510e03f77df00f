"""An ELMo of characters reads ids as it reads their spelling; whatever list they are of."""

from __future__ import annotations

import pytest
import torch

from bertlab.nn import ELMo, ELMoConfig
from bertlab.tasks.elmo_features import elmo_states
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.spelled_words import SpelledELMo, spelled_states, whole_words
from bertlab.text.characters import word_characters

D = 6


def some_elmo() -> ELMo:
    torch.manual_seed(0)
    sizes = {"d_character": 4, "filters": ((1, 4), (3, 8)), "n_highway": 1}
    return ELMo(ELMoConfig(vocab_size=7, d_model=D, d_memory=8, dropout=0.5, **sizes)).eval()


def sentence(*words: str) -> TaggedSentence:
    return TaggedSentence(words, ("O",) * len(words))


def test_no_word_of_the_texts_is_cut_and_capitals_stay() -> None:
    words = whole_words(["Ivo plays, Hartwell's playing.", "ivo"])
    text = "Ivo playing Hartwell, ivo"
    assert words.encode(text).tokens == ["Ivo", "playing", "Hartwell", ",", "ivo"]
    assert whole_words(["Ivo plays."], fast=True).encode("Ivo plays").tokens == ["Ivo", "plays"]


def test_ids_are_read_as_their_characters_padding_too() -> None:
    elmo, words = some_elmo(), whole_words(["They play, they say."])
    rows = [["[CLS]", "They", "play", ",", "[SEP]"], ["[CLS]", "play", "[SEP]", "[PAD]", "[PAD]"]]
    ids = torch.tensor([[words.ids[word] for word in row] for row in rows])
    spelled = torch.from_numpy(word_characters([word for row in rows for word in row])).view(2, 5, -1)
    with torch.no_grad():
        for ours, theirs in zip(SpelledELMo(elmo, words)(ids).layers, elmo(spelled).layers, strict=True):
            torch.testing.assert_close(ours, theirs)


def test_the_list_of_words_is_no_part_of_the_model() -> None:
    elmo = some_elmo()
    assert SpelledELMo(elmo, whole_words(["a b"])).state_dict().keys() == {
        f"elmo.{name}" for name in elmo.state_dict()
    }
    alone = spelled_states(elmo, [sentence("They", "play")])[0]
    beside = spelled_states(elmo, [sentence("Others", "read"), sentence("They", "play")])[1]
    torch.testing.assert_close(alone.float(), beside.float(), atol=2e-3, rtol=2e-3)  # float16


def test_a_word_with_a_mark_is_read_in_parts_and_gets_one_state() -> None:
    elmo, some = some_elmo(), [sentence("U.S.", "teams", "play")]
    states = spelled_states(elmo, some)[0]
    assert states.shape == (3, 3, 2 * D)
    words = whole_words(["U.S. teams play"])
    torch.testing.assert_close(states, elmo_states(SpelledELMo(elmo, words), words, some)[0])


def test_a_long_word_is_spelled_up_to_its_limit() -> None:
    elmo, words = some_elmo(), whole_words(["x" * 80, "x" * 90])
    ids = torch.tensor([[words.ids["x" * 80]], [words.ids["x" * 90]]])
    first, second = SpelledELMo(elmo, words)(ids).layers[0]
    assert torch.equal(first, second)


def test_a_model_of_ids_is_refused() -> None:
    with pytest.raises(ValueError, match="give it its ids"):
        SpelledELMo(ELMo(ELMoConfig(vocab_size=9, d_model=4, d_memory=4, n_characters=0)), whole_words(["a"]))
