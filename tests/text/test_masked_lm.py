"""Claims about masked language modelling: who is chosen, what happens to it, and by which numbers."""

from __future__ import annotations

import math
import pickle
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from bertlab.nn.functional import cross_entropy
from bertlab.text import IGNORE_INDEX, SPECIAL, Masker, WordPiece, mask_tokens

PAD, UNK, CLS, SEP, MASK = range(5)
WORDS = [f"w{i}" for i in range(100)]
HUNDRED = WordPiece([*SPECIAL, *WORDS])
CLUB = WordPiece([*SPECIAL, "the", "phil", "##har", "##monic", "plays"])
SENTENCE = np.array([CLS, 5, 6, 7, 8, 9, SEP])  # [CLS] the phil ##har ##monic plays [SEP]


def by_generator(ids, vocab, **settings):
    return mask_tokens(ids, vocab, np.random.default_rng(0), **settings)


def by_counters(ids, vocab, **settings):
    return Masker(vocab, seed=0, **settings).mask(ids, np.arange(len(ids)), epoch=0)


both = pytest.mark.parametrize("mask", [by_generator, by_counters])


def within(count: int, n: int, p: float, sigma: float = 4) -> bool:
    return abs(count - n * p) <= sigma * math.sqrt(n * p * (1 - p))


@both
def test_D22_special_tokens_and_padding_are_never_chosen(mask):
    ids = np.tile([CLS, 5, 6, SEP, PAD, PAD], (10_000, 1))
    corrupted, labels = mask(ids, HUNDRED)
    assert (labels != IGNORE_INDEX).any(axis=0).tolist() == [False, True, True, False, False, False]
    assert (corrupted[:, [0, 3, 4, 5]] == ids[:, [0, 3, 4, 5]]).all()
    _, labels = mask(np.full((10, 1000), UNK), HUNDRED)
    assert (labels == IGNORE_INDEX).all()


@both
def test_D22_fifteen_percent_are_chosen(mask):
    ids = np.random.default_rng(1).integers(5, 105, (1000, 100))
    assert 0.1455 < (mask(ids, HUNDRED)[1] != IGNORE_INDEX).mean() < 0.1545


@both
def test_D22_of_the_chosen_80_10_10(mask):
    ids = np.random.default_rng(1).integers(5, 105, (1000, 670))
    corrupted, labels = mask(ids, HUNDRED)
    chosen = labels != IGNORE_INDEX
    read, real = corrupted[chosen], ids[chosen]
    n = int(chosen.sum())
    assert n > 99_000
    # Of the random words one in a hundred is the word itself.
    assert within((read == MASK).sum(), n, 0.8)
    assert within(((read != MASK) & (read != real)).sum(), n, 0.1 * 0.99)
    assert within((read == real).sum(), n, 0.1 + 0.1 * 0.01)
    assert (labels[chosen] == real).all()
    assert (corrupted[~chosen] == ids[~chosen]).all()


@both
def test_D22_random_words_are_all_ordinary_ones_and_equally_likely(mask):
    vocab = WordPiece(["[unused0]", *SPECIAL, "[unused1]", *WORDS])
    ids = np.full((500, 200), 20)
    corrupted, labels = mask(ids, vocab, rate=1.0, shares=(0, 1, 0))
    assert (labels == 20).all()
    counts = np.bincount(corrupted.ravel(), minlength=len(vocab))
    assert counts[:7].sum() == 0
    statistic = ((counts[7:] - 1000) ** 2 / 1000).sum()
    assert abs(statistic - 99) < 4 * math.sqrt(2 * 99)


@both
def test_D22_what_happens_is_independent_of_who_is_chosen(mask):
    """At a rate of one tenth as well, eight of ten are masked."""
    ids = np.random.default_rng(2).integers(5, 105, (1000, 200))
    corrupted, labels = mask(ids, HUNDRED, rate=0.1)
    chosen = labels != IGNORE_INDEX
    assert within((corrupted[chosen] == MASK).sum(), int(chosen.sum()), 0.8)


@both
def test_D22_what_happens_at_one_place_is_independent_of_who_is_chosen_at_others(mask):
    corrupted, labels = mask(np.full((20_000, 12), 7), HUNDRED)
    chosen = labels != IGNORE_INDEX
    masked = corrupted == MASK
    for here in range(12):
        for there in set(range(12)) - {here}:
            two = chosen[:, here] & chosen[:, there]
            assert within((two & masked[:, here]).sum(), int(two.sum()), 0.8, sigma=4.5)


@both
def test_each_argument_changes_what_it_should(mask):
    ids = np.random.default_rng(3).integers(5, 105, (50, 40))
    corrupted, labels = mask(ids, HUNDRED, rate=0)
    assert (corrupted == ids).all()
    assert (labels == IGNORE_INDEX).all()
    corrupted, labels = mask(ids, HUNDRED, rate=1, shares=(1, 0, 0))
    assert (corrupted == MASK).all()
    assert (labels == ids).all()
    corrupted, labels = mask(ids, HUNDRED, rate=1, shares=(0, 0, 1))
    assert (corrupted == ids).all()
    assert (labels == ids).all()


@both
def test_what_was_given_is_not_changed(mask):
    ids = np.random.default_rng(3).integers(5, 105, (20, 30))
    before = ids.copy()
    mask(ids, HUNDRED)
    assert (ids == before).all()


def test_D23_a_batch_with_nothing_to_predict_has_loss_zero():
    ids = np.array([[CLS, SEP], [CLS, SEP]])
    corrupted, labels = by_counters(ids, HUNDRED)
    assert (corrupted == ids).all()
    logits = torch.randn(2, 2, len(HUNDRED), requires_grad=True)
    loss = cross_entropy(logits, torch.from_numpy(labels))
    loss.backward()
    assert loss.item() == 0
    assert (logits.grad == 0).all()


def test_D23_an_example_with_nothing_to_predict_leaves_the_loss_as_it_is():
    ids = np.array([[CLS, *range(5, 35), SEP], [CLS, SEP, *[PAD] * 30]])
    labels = torch.from_numpy(by_counters(ids, HUNDRED)[1])
    assert (labels[0] != IGNORE_INDEX).any()
    logits = torch.randn(2, 32, len(HUNDRED))
    assert cross_entropy(logits, labels) == pytest.approx(cross_entropy(logits[:1], labels[:1]).item())


def test_D23_the_two_losses_ignore_different_things():
    logits, labels = torch.tensor([[2.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1])
    assert cross_entropy(logits, labels).item() == pytest.approx(0.4100, abs=1e-4)
    assert cross_entropy(logits, labels, ignore_index=0).item() == pytest.approx(0.6931, abs=1e-4)


def test_D23_four_words_often_have_none_chosen():
    _, labels = by_counters(np.tile([CLS, 5, 6, 7, 8, SEP], (10_000, 1)), HUNDRED)
    assert within((labels == IGNORE_INDEX).all(axis=1).sum(), 10_000, 0.85**4)


@both
def test_D24_the_pieces_of_a_word_are_chosen_together_or_not_at_all(mask):
    _, labels = mask(np.tile(SENTENCE, (20_000, 1)), CLUB, whole_words=True)
    found = {tuple(np.flatnonzero(row).tolist()) for row in labels != IGNORE_INDEX}
    words = [(1,), (2, 3, 4), (5,)]
    assert found == {sum(some, ()) for n in range(4) for some in combinations(words, n)}


@both
def test_D24_no_word_is_skipped_or_cut_for_a_budget(mask):
    """The long word has the chance of the short ones, though it is more than 15 % of the sentence."""
    _, labels = mask(np.tile(SENTENCE, (20_000, 1)), CLUB, whole_words=True)
    for piece in range(1, 6):
        assert within((labels[:, piece] != IGNORE_INDEX).sum(), 20_000, 0.15)


@both
def test_D24_each_piece_of_a_word_fares_by_itself(mask):
    corrupted, labels = mask(np.tile(SENTENCE, (20_000, 1)), CLUB, whole_words=True)
    words = corrupted[labels[:, 2] != IGNORE_INDEX][:, 2:5] == MASK
    assert within(words.all(axis=1).sum(), len(words), 0.8**3)


@both
def test_without_whole_words_pieces_are_chosen_one_by_one(mask):
    _, labels = mask(np.tile(SENTENCE, (20_000, 1)), CLUB)
    assert len({tuple(row) for row in labels != IGNORE_INDEX}) == 2**5


@both
def test_a_word_whose_beginning_was_cut_off_is_a_word(mask):
    ids = np.tile([CLS, 7, 8, SEP, 7, SEP], (2000, 1))
    _, labels = mask(ids, CLUB, whole_words=True)
    chosen = labels != IGNORE_INDEX
    assert (chosen[:, 1] == chosen[:, 2]).all()
    assert within((chosen[:, 1] & chosen[:, 4]).sum(), 2000, 0.15**2)
    assert not chosen[:, [0, 3, 5]].any()


def test_a_mask_is_a_function_of_seed_epoch_and_example():
    ids = np.random.default_rng(4).integers(5, 105, (64, 50))
    masks = {
        name: Masker(HUNDRED, seed).mask(ids, examples, epoch)[1] != IGNORE_INDEX
        for name, seed, examples, epoch in [
            ("one", 0, np.arange(64), 0),
            ("again", 0, np.arange(64), 0),
            ("epoch", 0, np.arange(64), 1),
            ("seed", 1, np.arange(64), 0),
            ("examples", 0, np.arange(64) + 64, 0),
        ]
    }
    assert (masks["one"] == masks["again"]).all()
    for other in ("epoch", "seed", "examples"):
        assert within((masks["one"] & masks[other]).sum(), ids.size, 0.15**2)


@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 20), st.booleans(), st.randoms())
def test_neither_batch_nor_padding_nor_order_change_the_mask_of_an_example(n, width, more, whole_words, draw):
    ids = np.random.default_rng(n * width).integers(0, 10, (n, width))
    masker = Masker(CLUB, seed=5, rate=0.4, whole_words=whole_words)
    corrupted, labels = masker.mask(ids, np.arange(n), epoch=2)
    rows = np.array(draw.sample(range(n), draw.randint(1, n)))
    padded = np.pad(ids[rows], ((0, 0), (0, more)))
    part, part_labels = masker.mask(padded, rows, epoch=2)
    assert (part[:, :width] == corrupted[rows]).all()
    assert (part_labels[:, :width] == labels[rows]).all()
    assert (part_labels[:, width:] == IGNORE_INDEX).all()


def test_sparse_and_dense_labels_are_the_same():
    ids = np.random.default_rng(6).integers(0, 105, (30, 41), dtype=np.uint16)
    masker = Masker(HUNDRED, seed=1)
    dense, labels = masker.mask(ids, np.arange(30), epoch=0)
    sparse, positions, originals = masker.mask_sparse(ids, np.arange(30), epoch=0)
    assert (sparse == dense).all()
    assert (positions == np.flatnonzero(labels != IGNORE_INDEX)).all()
    assert (originals == labels.ravel()[positions]).all()
    assert sparse.dtype == positions.dtype == originals.dtype == labels.dtype == np.int64


class Masked:
    """A data set that masks one example at a time, wherever it is asked to."""

    def __init__(self, epoch: int) -> None:
        self.masker, self.epoch = Masker(HUNDRED, seed=0), epoch

    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> np.ndarray:
        return self.masker.mask(np.full((1, 60), 7), [i], self.epoch)[0][0]


@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker:UserWarning")  # than there are cores
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_D35_every_example_has_a_mask_of_its_own_with_any_number_of_workers():
    epochs = [
        [torch.cat(list(DataLoader(Masked(epoch), num_workers=n))).tolist() for n in (0, 1, 4)]
        for epoch in (0, 1)
    ]
    for alone, one, four in epochs:
        assert alone == one == four
        assert len({tuple(row) for row in alone}) == 8
    assert not set(map(tuple, epochs[0][0])) & set(map(tuple, epochs[1][0]))


def test_D35_a_generator_of_its_own_would_repeat_itself_in_every_worker():
    """What the counters are for: a copied generator gives each worker the same numbers."""
    generator = pickle.dumps(np.random.default_rng(0))  # as it is sent to a worker
    one, other = (mask_tokens([7] * 60, HUNDRED, pickle.loads(generator))[0] for _ in range(2))
    assert (one == other).all()


@both
@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rate": 15}, "rate=15: give the chance"),
        ({"rate": -0.1}, "rate=-0.1: give the chance"),
        ({"shares": (0.8, 0.1)}, r"shares=\(0.8, 0.1\): give three that sum to 1"),
        ({"shares": (0.8, 0.1, 0.2)}, "give three that sum to 1"),
        ({"shares": (1.2, -0.1, -0.1)}, "give three that sum to 1"),
    ],
)
def test_what_is_no_chance_is_refused(mask, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        mask(np.array([[5, 6]]), HUNDRED, **settings)


def test_ids_that_fit_no_vocabulary_are_refused():
    with pytest.raises(ValueError, match="ids from 5 to 105 are not of a vocabulary of 105 pieces"):
        by_generator([5, 105], HUNDRED)
    with pytest.raises(ValueError, match="ids from -1 to 5 are not"):
        by_generator([5, -1], HUNDRED)
    with pytest.raises(ValueError, match="type float64: give whole numbers"):
        by_generator([0.5], HUNDRED)
    with pytest.raises(ValueError, match="a vocabulary of 5 pieces has no ordinary one"):
        by_generator([CLS], WordPiece(SPECIAL))
    with pytest.raises(ValueError, match=r"ids of shape \(2, 3\) with 4 numbers: give"):
        Masker(HUNDRED, 0).mask(np.zeros((2, 3), int), np.arange(4), 0)
    assert by_generator([], HUNDRED)[0].shape == (0,)
