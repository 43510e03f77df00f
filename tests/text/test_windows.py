"""Claims about thinned-out text, windows, pairs and runs of words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.text.windows import Thinned, keep_chances, thin_out, window_pairs, windows, word_runs
from bertlab.text.word_corpus import WordCorpus


@st.composite
def texts(draw: st.DrawFn) -> Thinned:
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    n = sum(lengths)
    widths = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    ids = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    return Thinned(np.array(ids), np.repeat(np.arange(len(lengths)), lengths), np.array(widths))


@settings(max_examples=50)
@given(text=texts())
def test_a_pair_is_near_enough_and_in_one_sentence(text: Thinned) -> None:
    n = len(text.ids)
    wanted = [
        (i, j)
        for i in range(n)
        for j in range(n)
        if i != j and abs(i - j) <= text.widths[i] and text.sentences[i] == text.sentences[j]
    ]
    assert list(zip(*(places.tolist() for places in window_pairs(text)), strict=True)) == wanted


@settings(max_examples=50)
@given(text=texts())
def test_the_windows_that_cbow_reads_hold_the_pairs_of_skip_gram(text: Thinned) -> None:
    places, mask = windows(text)
    assert places.shape == mask.shape == (len(text.ids), 2 * text.widths.max())
    assert 0 <= places.min() <= places.max() < len(text.ids)
    pairs = [(i, j) for i in range(len(places)) for j in places[i][mask[i]].tolist()]
    assert pairs == list(zip(*(found.tolist() for found in window_pairs(text)), strict=True))


def corpus_of(n: int, V: int = 50) -> WordCorpus:
    """A text in which word i has a share that falls with i, in sentences of 20 words."""
    ids = np.random.default_rng(0).geometric(0.1, size=n).clip(max=V) - 1
    words = tuple(f"w{i}" for i in range(V))
    return WordCorpus(words, ids.astype(np.int32), np.arange(0, n + 1, 20))


def test_frequent_words_are_kept_as_often_as_the_formula_says() -> None:
    corpus = corpus_of(200_000)
    chances = keep_chances(corpus.counts, threshold=1e-3)
    share = corpus.counts[0] / len(corpus)
    assert chances[0] == pytest.approx((share / 1e-3) ** -0.5 + 1e-3 / share)
    kept = np.bincount(thin_out(corpus, chances, 5, seed=0, epoch=0).ids, minlength=50)
    error = np.sqrt(corpus.counts * chances * (1 - chances)) + 1e-9
    assert (abs(kept - corpus.counts * chances) <= 4.5 * error + 1).all()


def test_rare_words_and_a_threshold_of_zero_keep_everything() -> None:
    assert keep_chances([1, 10**6], 1e-3)[0] == 1
    assert keep_chances([1, 10**6], 0).tolist() == [1, 1]
    corpus = corpus_of(100)
    text = thin_out(corpus, keep_chances(corpus.counts, 0), 5, seed=0, epoch=0)
    np.testing.assert_array_equal(text.ids, corpus.ids)
    np.testing.assert_array_equal(text.sentences, corpus.sentence_of)


def test_a_width_is_drawn_evenly() -> None:
    corpus = corpus_of(50_000)
    widths = thin_out(corpus, np.ones(50), 5, seed=0, epoch=0).widths
    counts = np.bincount(widths)
    assert counts[0] == 0
    assert (abs(counts[1:] - 10_000) < 4.5 * np.sqrt(10_000 * 0.8)).all()


def test_chance_is_a_function_of_seed_and_epoch() -> None:
    corpus = corpus_of(2000)
    chances = np.full(50, 0.5)
    once, again = (thin_out(corpus, chances, 5, seed=1, epoch=2) for _ in range(2))
    for one, other in zip(once, again, strict=True):
        np.testing.assert_array_equal(one, other)
    for seed, epoch in ((1, 3), (2, 2)):
        other = thin_out(corpus, chances, 5, seed, epoch)
        assert len(other.ids) != len(once.ids) or (other.ids != once.ids).any()


def test_who_is_kept_says_nothing_about_the_width() -> None:
    corpus = corpus_of(50_000)
    widths = thin_out(corpus, np.full(50, 0.3), 2, seed=0, epoch=0).widths
    assert abs((widths == 1).mean() - 0.5) < 4.5 * 0.5 / np.sqrt(len(widths))


def test_words_left_out_are_gone_before_windows_are_laid() -> None:
    corpus = WordCorpus.of_words([["a", "the", "b"]] * 3, min_count=1)
    the = corpus.words.index("the")
    chances = np.where(np.arange(3) == the, 0.0, 1.0)
    text = thin_out(corpus, chances, 1, seed=0, epoch=0)
    pairs = zip(*(text.ids[places] for places in window_pairs(text)), strict=True)
    assert {(corpus.words[i], corpus.words[j]) for i, j in pairs} == {("a", "b"), ("b", "a")}


@settings(max_examples=30)
@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=6), n=st.integers(1, 4))
def test_runs_are_all_runs_inside_sentences(lengths: list[int], n: int) -> None:
    borders = np.cumsum([0, *lengths])
    corpus = WordCorpus(("a",), np.zeros(borders[-1], np.int32), borders)
    wanted = [i for a, b in pairwise(borders) for i in range(a, b - n + 1)]
    if wanted:
        assert word_runs(corpus, n).tolist() == wanted
    else:
        with pytest.raises(ValueError, match=f"no sentence has n={n} words"):
            word_runs(corpus, n)


def test_bad_input_is_named() -> None:
    corpus = corpus_of(20)
    with pytest.raises(ValueError, match="threshold=-1: give a share"):
        keep_chances([1], -1)
    with pytest.raises(ValueError, match="window=0: give the largest number"):
        thin_out(corpus, np.ones(50), 0, seed=0, epoch=0)
    with pytest.raises(ValueError, match="n=0: a run has at least one word"):
        word_runs(corpus, 0)
