"""Claims about the sentences with words of several senses."""

from __future__ import annotations

import re

from bertlab.datasets.senses import senses

SENTENCES = [
    (word, sense, text)
    for word, kinds in senses().items()
    for sense, texts in kinds.items()
    for text in texts
]


def test_four_words_have_ten_senses_in_six_sentences_each():
    assert [*senses()] == ["bank", "spring", "seal", "play"]
    assert [len(kinds) for kinds in senses().values()] == [2, 3, 2, 3]
    assert {len(texts) for kinds in senses().values() for texts in kinds.values()} == {6}


def test_each_sentence_has_its_word_once_and_no_other_form_of_it():
    for word, _, text in SENTENCES:
        assert re.findall(rf"\w*{word}\w*", text.lower()) == [word], text


def test_no_sentence_is_there_twice_and_all_end_as_sentences_do():
    texts = [text for _, _, text in SENTENCES]
    assert len(set(texts)) == len(texts) == 60
    assert all(text.isascii() and text[-1] in ".?" for text in texts)
