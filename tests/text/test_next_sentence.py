"""Claims about sentence pairs: where the second text comes from, and that nothing gives it away."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.datasets import Document
from bertlab.datasets.stories import sample_stories
from bertlab.text import IS_NEXT, NOT_NEXT, SPECIAL, WordPiece, sentence_pairs, tokenise
from bertlab.text.next_sentence import another

LETTERS = WordPiece(
    [*SPECIAL, *"abcdefghijklmnopqrstuvwxyz", *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz")]
)


def corpus_of(*documents: tuple[str, str]):
    """A document for each (sentences parted by white space, source)."""
    return tokenise([Document(text.split(), source) for text, source in documents], LETTERS)


def stories(n: int, seed: int = 0):
    return tokenise([s.document for s in sample_stories(np.random.default_rng(seed), n)], LETTERS)


def random_corpus(n_documents: int, longest: int, seed: int = 0, sources: int = 1):
    """Documents of random letters, of one to ten a sentence."""
    rng = np.random.default_rng(seed)
    documents = []
    for i in range(n_documents):
        lengths = rng.integers(1, 11, rng.integers(2, longest + 1))
        text = " ".join("".join(rng.choice(list("abcdefghij"), n)) for n in lengths)
        documents.append((text, f"source {i % sources}"))
    return corpus_of(*documents)


def document_of(corpus, sentence):
    return np.searchsorted(corpus.documents, sentence, side="right") - 1


def test_D25_a_false_second_text_comes_from_the_other_document():
    corpus = corpus_of(("ab bc cd", "x"), ("tu uv", "x"))
    false_of_d1, n, true = set(), 0, 0
    for epoch in range(500):
        pairs = sentence_pairs(corpus, 0, epoch)
        for (first, stop), (b_first, b_stop), label in zip(pairs.a, pairs.b, pairs.labels, strict=True):
            n, true = n + 1, true + (label == IS_NEXT)
            if label == IS_NEXT:
                assert b_first == stop
            elif first < 3:
                false_of_d1 |= set(range(b_first, b_stop))
            else:
                assert set(range(b_first, b_stop)) <= {0, 1, 2}
    assert false_of_d1 <= {3, 4}
    assert false_of_d1
    assert n >= 1000
    assert abs(true / n - 0.5) < 0.063


@pytest.mark.timeout(5)
def test_D25_a_corpus_of_one_document_is_refused_at_once():
    begin = time.perf_counter()
    with pytest.raises(ValueError, match="the source 'x' has 1 document of two sentences or more"):
        sentence_pairs(corpus_of(("ab bc cd", "x")), 0, 0)
    assert time.perf_counter() - begin < 1


def test_D25_a_source_that_can_give_no_false_text_is_named():
    with pytest.raises(ValueError, match="the source 'books' has 1 document"):
        sentence_pairs(corpus_of(("a b", "books"), ("c d", "wiki"), ("e f", "wiki")), 0, 0)
    with pytest.raises(ValueError, match="the source 'x' has 0 documents"):
        sentence_pairs(corpus_of(("a", "x"), ("c", "x")), 0, 0)


def test_D25_a_text_that_stands_in_a_corpus_twice_is_no_false_continuation():
    corpus = corpus_of(("ab bc cd", "x"), ("ab bc cd", "x"))
    labels = [sentence_pairs(corpus, 0, epoch).labels for epoch in range(100)]
    for epoch in range(100):
        pairs = sentence_pairs(corpus, 0, epoch)
        false = pairs.labels == NOT_NEXT
        assert (corpus.fingerprints[pairs.b[false, 0]] != corpus.fingerprints[pairs.a[false, 1]]).all()
    assert (
        0 < np.concatenate(labels).mean() < 0.5
    )  # where another place gives none, the pair becomes a true one
    everywhere = corpus_of(("ab bc", "x"), ("ab bc", "x"))
    assert (sentence_pairs(everywhere, 0, 0).labels == IS_NEXT).all()


def test_D26_label_0_says_that_b_follows():
    corpus = stories(50)
    pairs = sentence_pairs(corpus, 0, 0)
    follows = pairs.b[:, 0] == pairs.a[:, 1]
    assert (follows == (pairs.labels == 0)).all()
    assert (IS_NEXT, NOT_NEXT) == (0, 1)


@given(st.integers(2, 12), st.integers(2, 12), st.integers(5, 60), st.integers(0, 99), st.integers(1, 2))
@settings(max_examples=60)
def test_what_holds_for_every_pair(n_documents, longest, max_length, seed, sources):
    corpus = random_corpus(n_documents * sources, longest, seed, sources)
    for epoch in range(3):
        pairs = sentence_pairs(corpus, seed, epoch, max_length)
        of_a, of_b = document_of(corpus, pairs.a[:, 0]), document_of(corpus, pairs.b[:, 0])
        true = pairs.labels == IS_NEXT
        for text, document in ((pairs.a, of_a), (pairs.b, of_b)):
            assert (text[:, 0] < text[:, 1]).all()
            assert (text[:, 1] <= corpus.documents[document + 1]).all()
        assert (pairs.b[true, 0] == pairs.a[true, 1]).all()
        assert (of_a[true] == of_b[true]).all()
        assert (of_a[~true] != of_b[~true]).all()
        assert (corpus.source[of_a] == corpus.source[of_b]).all()
        assert (np.diff(pairs.a[:, 0]) > 0).all()
        assert (np.diff(pairs.a.ravel()) >= 0).all()  # no sentence is in two first texts


def test_pairs_fill_the_input_and_some_are_shorter():
    corpus = random_corpus(4, 2000)
    for short_share in (0.0, 0.1, 1.0):
        pairs = sentence_pairs(corpus, 0, 0, max_length=67, short_share=short_share)
        tokens = sum(corpus.borders[text[:, 1]] - corpus.borders[text[:, 0]] for text in (pairs.a, pairs.b))
        full = ((tokens >= 64) & (tokens < 64 + 10)).mean()
        assert full == pytest.approx(1 - short_share, abs=0.05 + 0.1 * short_share)
        assert (np.diff(pairs.a, axis=1) > 1).any()
        assert (np.diff(pairs.b, axis=1) > 1).any()


def test_all_sentences_but_the_last_ones_left_alone_are_used():
    corpus = random_corpus(40, 60)
    pairs = sentence_pairs(corpus, 0, 0, max_length=40)
    used = np.zeros(len(corpus.borders) - 1, dtype=bool)
    for first, stop in [*pairs.a, *pairs.b[pairs.labels == IS_NEXT]]:
        used[first:stop] = True
    assert set(np.flatnonzero(~used)) <= set(corpus.documents[1:] - 1)


@pytest.mark.parametrize("max_length", [40, 128])
def test_neither_text_alone_tells_whether_they_belong_together(max_length):
    """As many true as false pairs have an A of so many sentences, and a B of so many that begins so late."""
    corpus = random_corpus(300, 12)
    seen = {IS_NEXT: [], NOT_NEXT: []}
    for epoch in range(20):
        pairs = sentence_pairs(corpus, 1, epoch, max_length, short_share=0)
        begins = pairs.b[:, 0] - corpus.documents[document_of(corpus, pairs.b[:, 0])]
        facts = np.stack([np.diff(pairs.a)[:, 0], np.diff(pairs.b)[:, 0], begins], axis=1)
        for label, found in seen.items():
            found.append(facts[pairs.labels == label])
    true, false = (np.concatenate(found) for found in seen.values())
    assert true[:, 2].min() >= 1
    assert false[:, 2].min() >= 1  # no B is the beginning of a document
    for i in range(3):
        error = math.sqrt(true[:, i].var() / len(true) + false[:, i].var() / len(false))
        assert abs(true[:, i].mean() - false[:, i].mean()) < 4 * error


def test_half_of_all_pairs_are_true():
    corpus = stories(3000)
    labels = sentence_pairs(corpus, 0, 0).labels
    assert abs(labels.mean() - 0.5) < 4 * 0.5 / math.sqrt(len(labels))


def test_pairs_are_a_function_of_seed_and_epoch():
    corpus = stories(200)
    one, again = (sentence_pairs(corpus, 3, 5) for _ in range(2))
    assert (one.a == again.a).all()
    assert (one.b == again.b).all()
    assert (one.labels == again.labels).all()
    for other in (sentence_pairs(corpus, 3, 6), sentence_pairs(corpus, 4, 5)):
        n = min(len(one), len(other))
        agree = (one.labels[:n] == other.labels[:n]).mean()
        assert abs(agree - 0.5) < 4 * 0.5 / math.sqrt(n)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30))
def test_another_of_its_group_is_never_of_its_document(items):
    group, document = np.array(items).T
    document = document + 10 * group
    found = {i: set() for i in range(len(items))}
    for draw in np.linspace(0, 2**32 - 1, 40).astype(np.uint64):
        for i, place in enumerate(another(group, document, np.full(len(items), draw))):
            found[i].add(int(place))
    for i, places in found.items():
        allowed = {j for j in range(len(items)) if group[j] == group[i] and document[j] != document[i]}
        assert places == (allowed or {-1})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"max_length": 4}, "max_length=4 has no room for two texts: choose 5 or more"),
        ({"short_share": 1.5}, "short_share=1.5: give the share"),
        ({"seed": -1}, "-1 is no counter"),
    ],
)
def test_bad_arguments_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        sentence_pairs(corpus_of(("a b", "x"), ("c d", "x")), **{"seed": 0, "epoch": 0, **arguments})
