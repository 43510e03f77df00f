"""Claims about batches for pre-training: same for any number of workers, fresh each epoch, resumable."""

from __future__ import annotations

import hashlib
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from bertlab.datasets.stories import sample_stories
from bertlab.text import (
    IS_NEXT,
    SPECIAL,
    Masker,
    PretrainingExamples,
    WordPiece,
    pair_inputs,
    sentence_pairs,
    tokenise,
    write_shards,
)
from bertlab.text.pretraining_examples import epoch_order, pair_batch

DOCUMENTS = [story.document for story in sample_stories(np.random.default_rng(0), 150)]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TOKENIZER = WordPiece([*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS), *",.?!"])
CORPUS = tokenise(DOCUMENTS, TOKENIZER)


def examples(**arguments) -> PretrainingExamples:
    return PretrainingExamples(
        CORPUS, Masker(TOKENIZER, seed=1), **{"max_length": 60, "batch_size": 16, **arguments}
    )


def digest(batches) -> str:
    """All bits of some batches."""
    arrays = (array for batch in batches for array in astuple(batch))
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


@pytest.mark.parametrize("max_length", [5, 20, 60, 400])
def test_a_batch_holds_what_pair_inputs_makes_of_each_pair(max_length):
    pairs = sentence_pairs(CORPUS, 0, 0, max_length)
    rows = np.arange(0, len(pairs), 7)
    batch = pair_batch(CORPUS, pairs, rows, TOKENIZER, max_length)
    longest = 0
    for i, row in enumerate(rows):
        a, b = (CORPUS.ids(*text[row]) for text in (pairs.a, pairs.b))
        one = pair_inputs(a, b, TOKENIZER, max_length, "longest_first")
        longest = max(longest, len(one.ids))
        assert batch.ids[i][batch.mask[i]].tolist() == one.ids.tolist()
        assert batch.segments[i][batch.mask[i]].tolist() == one.segments.tolist()
        assert (batch.ids[i][~batch.mask[i]] == TOKENIZER.pad_id).all()
        assert not batch.segments[i][~batch.mask[i]].any()
    assert batch.ids.shape[1] == longest


def test_undoing_the_mask_gives_the_pairs_back():
    data = examples()
    pairs, order = sentence_pairs(CORPUS, 1, 0, 60), epoch_order(len(sentence_pairs(CORPUS, 1, 0, 60)), 1, 0)
    for number, batch in enumerate(data.batches(0)):
        rows = order[16 * number : 16 * number + 16]
        ids = batch.ids.copy()
        ids.ravel()[batch.positions] = batch.labels
        assert (ids == pair_batch(CORPUS, pairs, rows, TOKENIZER, 60).ids).all()
        assert (batch.next_labels == pairs.labels[rows]).all()
        assert not np.isin(batch.labels, list(TOKENIZER.special_ids)).any()
        assert ((batch.next_labels == IS_NEXT) == (pairs.b[rows, 0] == pairs.a[rows, 1])).all()


@pytest.mark.parametrize("n_ranks", [2, 4, 16])
def test_ranks_share_the_batches_of_one_process(n_ranks):
    ranks = [examples(rank=rank, n_ranks=n_ranks) for rank in range(n_ranks)]
    for epoch in (0, 1):
        for number, whole in enumerate(examples().batches(epoch)):
            for rank, data in enumerate(ranks):
                part = data.batch(epoch, number)
                width = part.ids.shape[1]
                assert (part.ids == whole.ids[rank::n_ranks, :width]).all()
                assert not whole.mask[rank::n_ranks, width:].any()
                assert (part.next_labels == whole.next_labels[rank::n_ranks]).all()
    assert {data.n_batches(3) for data in ranks} == {examples().n_batches(3)}


def test_every_epoch_has_its_own_pairs_order_and_masks():
    batches = [next(examples().batches(epoch)) for epoch in range(3)]
    assert len({digest([batch]) for batch in batches}) == 3
    orders = [epoch_order(1000, 0, epoch) for epoch in range(2)]
    assert all((np.sort(order) == np.arange(1000)).all() for order in orders)
    assert abs(np.corrcoef(*orders)[0, 1]) < 4 / np.sqrt(1000)
    assert (epoch_order(1000, 0, 0) == orders[0]).all()
    assert (epoch_order(1000, 1, 0) != orders[0]).any()


@given(st.integers(0, 3), st.data())
@settings(max_examples=20)
def test_resumed_anywhere_the_rest_is_the_same_bit_for_bit(epoch, data):
    unbroken = list(examples().batches(epoch))
    start = data.draw(st.integers(0, len(unbroken)))
    assert digest(examples().batches(epoch, start)) == digest(unbroken[start:])


def test_asking_in_any_order_gives_the_same_batches():
    data = examples()
    backwards = [data.batch(epoch, number) for epoch in (1, 0) for number in (3, 1, 2)]
    assert digest(backwards) == digest(
        examples().batch(epoch, number) for epoch in (1, 0) for number in (3, 1, 2)
    )


class Batches:
    """What a DataLoader asks for a batch: each worker has a copy of it."""

    def __init__(self, epoch: int) -> None:
        self.data, self.epoch = examples(), epoch

    def __len__(self) -> int:
        return self.data.n_batches(self.epoch)

    def __getitem__(self, number: int) -> tuple[np.ndarray, ...]:
        return astuple(self.data.batch(self.epoch, number))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_D35_any_number_of_workers_gives_the_same_batches():
    for epoch in (0, 1):
        alone, one, two = (
            hashlib.sha256(
                b"".join(
                    array.tobytes()
                    for batch in DataLoader(Batches(epoch), batch_size=None, collate_fn=tuple, num_workers=n)
                    for array in batch
                )
            ).hexdigest()
            for n in (0, 1, 2)
        )
        assert alone == one == two


def digest_of(data: PretrainingExamples, epoch: int, start: int) -> str:
    return digest(data.batches(epoch, start))


@pytest.mark.slow
def test_another_process_goes_on_with_shards_where_this_one_stopped(tmp_path):
    shards = write_shards(tmp_path / "new", DOCUMENTS, TOKENIZER, 2000)
    data = PretrainingExamples(shards, Masker(TOKENIZER, seed=1), max_length=60, batch_size=16)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        resumed = pool.submit(digest_of, data, 2, 4).result()
    assert resumed == digest(examples().batches(2, 4))  # tokens in memory or on disk: no difference


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"rank": 2, "n_ranks": 2}, "rank=2 of n_ranks=2: ranks count from 0 to 1"),
        ({"rank": 0, "n_ranks": 3}, "batch_size=16 is no multiple of n_ranks=3"),
        ({"batch_size": 0}, "batch_size=0 is no multiple"),
        ({"batch_size": 10_000}, "batch_size=10000 is more than the [0-9]+ pairs of an epoch"),
    ],
)
def test_batches_that_cannot_be_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        examples(**arguments)


def test_a_batch_behind_the_last_one_is_refused():
    data = examples()
    n = data.n_batches(0)
    with pytest.raises(IndexError, match=f"epoch 0 has no batch {n}: it has {n}"):
        data.batch(0, n)
    with pytest.raises(IndexError):
        data.batch(0, -1)
