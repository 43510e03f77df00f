"""Claims about training a vocabulary: which pair is joined, and the same pieces as the library's trainer."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from bertlab.datasets.fables import fables
from bertlab.text import SPECIAL, WordPiece, train_wordpiece
from bertlab.text.normalisation import CharacterTable
from bertlab.text.wordpiece_training import count_words, letters

corpora = st.lists(st.text("aabbcé 我!", max_size=30), min_size=1, max_size=20).filter(
    lambda texts: any(text.strip() for text in texts)
)


def library_vocab(texts, vocab_size: int, first: list[str], lowercase: bool = True, **settings) -> list[str]:
    """Train by the library. Letters are told to it as special tokens, else it numbers them by chance."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    settings = {"min_frequency": 2, "limit_alphabet": 1000, **settings}
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size, special_tokens=first, show_progress=False, **settings
    )
    tokenizer.train_from_iterator(texts, trainer)
    ids = tokenizer.get_vocab()
    return sorted(ids, key=ids.__getitem__)


def up_to_letters(ours: WordPiece) -> list[str]:
    return [p for p in ours.vocab if p in SPECIAL or len(p) == 1 or (p.startswith("##") and len(p) == 3)]


def brute_force(texts, vocab_size: int, min_frequency: int) -> list[str]:
    """Count every pair anew before each join."""
    words = count_words(texts, CharacterTable())
    spelled = {word: [word[0], *(f"##{letter}" for letter in word[1:])] for word in words}
    inside = {piece for pieces in spelled.values() for piece in pieces[1:]}
    vocab = [*SPECIAL, *sorted(set("".join(words))), *sorted(inside)]
    while len(vocab) < vocab_size:
        counts: Counter[tuple[int, int]] = Counter()
        for word, pieces in spelled.items():
            for left, right in pairwise(pieces):
                counts[vocab.index(left), vocab.index(right)] += words[word]
        if not counts:
            break
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        if counts[pair] < min_frequency:
            break
        left, right = vocab[pair[0]], vocab[pair[1]]
        piece = left + right.removeprefix("##")
        if piece not in vocab:
            vocab.append(piece)
        for pieces in spelled.values():
            i = 0
            while i + 1 < len(pieces):
                if pieces[i : i + 2] == [left, right]:
                    pieces[i : i + 2] = [piece]
                i += 1
    return vocab


@given(corpora, st.integers(25, 60), st.integers(1, 3))
def test_pieces_are_those_of_counting_anew_before_each_join(texts, vocab_size, min_frequency):
    ours = train_wordpiece(texts, vocab_size, min_frequency=min_frequency)
    assert ours.vocab == brute_force(texts, vocab_size, min_frequency)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize(("vocab_size", "min_frequency"), [(150, 2), (1000, 2), (5000, 1)])
def test_pieces_and_their_order_are_those_of_the_library(lowercase, vocab_size, min_frequency):
    ours = train_wordpiece(fables(), vocab_size, lowercase, min_frequency)
    first = up_to_letters(ours)
    theirs = library_vocab(fables(), vocab_size, first, lowercase, min_frequency=min_frequency)
    assert ours.vocab == theirs


def test_left_alone_the_library_finds_the_same_pieces_but_for_some_of_the_last():
    ours = train_wordpiece(fables(), 1000)
    theirs = library_vocab(fables(), 1000, list(SPECIAL))
    assert set(theirs[:5]) == set(SPECIAL)
    assert len(set(ours.vocab) - set(theirs)) <= 40  # ties, decided by the numbers of the letters


def test_real_text_gives_the_pieces_of_the_library(mirror):
    books = ("frances-hodgson-burnett-the-secret-garden.md", "lewis-carroll-through-the-looking-glass.md")
    lines = [line for book in books for line in mirror("books").lines(book)]
    ours = train_wordpiece(lines, 4000)
    assert ours.vocab == library_vocab(lines, 4000, up_to_letters(ours))


def test_the_same_texts_give_the_same_vocabulary_and_what_is_seen_first_does_not_matter():
    assert train_wordpiece(fables(), 800).vocab == train_wordpiece(fables()[::-1], 800).vocab


def test_only_the_most_frequent_letters_are_kept_and_the_others_left_out():
    texts = ["aab ccx", "aab ccz"]
    assert letters(count_words(texts, CharacterTable()), 3) == ["a", "b", "c"]
    ours = train_wordpiece(texts, 30, limit_alphabet=3)
    assert not {"x", "z", "##x"} & set(ours.vocab)
    assert ours.vocab == library_vocab(texts, 30, up_to_letters(ours), limit_alphabet=3)
    assert ours.encode("ccx").tokens == ["[UNK]"]


def test_a_pair_seen_less_often_than_asked_is_not_joined():
    assert "ab" in train_wordpiece(["ab ab"], 20, min_frequency=2).vocab
    assert "ab" not in train_wordpiece(["ab"], 20, min_frequency=2).vocab


def test_every_word_it_was_trained_on_can_be_encoded():
    ours = train_wordpiece(fables(), 300)
    assert ours.unk_id not in {i for ids in ours.encode_batch(fables()) for i in ids}


def test_texts_without_words_and_too_small_a_vocabulary_are_refused():
    with pytest.raises(ValueError, match="no word: give some text"):
        train_wordpiece(["", " \n"], 100)
    with pytest.raises(ValueError, match=r"vocab_size=7 has no room for 8 special tokens and letters"):
        train_wordpiece(["abc"], 7, limit_alphabet=2)
