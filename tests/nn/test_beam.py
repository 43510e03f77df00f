"""Claims about the search with a beam, most of them against everything that could have been written."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import Seq2Seq, Seq2SeqConfig, Transformer, TransformerConfig, beam_search, greedy_decode
from bertlab.nn.beam import best_of, length_penalty
from bertlab.nn.transformer import WithoutCache
from tests.nn.table_model import TableModel, every_sentence

A, B, EOS = 1, 2, 3  # 0 is padding, which has no probability


def d13(sentence, prefix):
    rows = {None: (0.5, 0.3, 0.2), A: (0.1, 0.55, 0.35), B: (0.2, 0.1, 0.7)}
    return (0.0, *rows.get(prefix[-1] if prefix else None, (0.0, 0.0, 1.0)))


ONE = torch.tensor([[0]])


def ids_of(found):
    return [h.ids for h in found]


def test_D13_greedy_writes_A_B_and_a_beam_of_two_or_more_B():
    model = TableModel(d13, EOS)
    assert greedy_decode(model, ONE, max_length=4)[0].tolist() == [[A, B, EOS]]
    for size, ids, p in (
        (1, (A, B, EOS), 0.1925),
        (2, (B, EOS), 0.21),
        (3, (B, EOS), 0.21),
        (9, (B, EOS), 0.21),
    ):
        ((best,),) = beam_search(model, ONE, max_length=4, beam_size=size, alpha=0)
        assert best.ids == ids
        assert best.ended
        assert math.exp(best.log_prob) == pytest.approx(p)
        assert best.score == best.log_prob


def test_D13_the_n_best_are_all_different_and_in_order():
    (found,) = beam_search(TableModel(d13, EOS), ONE, max_length=4, beam_size=5, alpha=0, n_best=5)
    assert len(set(ids_of(found))) == 5
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


def test_D13_a_beam_with_room_for_all_finds_what_enumeration_finds():
    for alpha in (0.0, 0.6, 1.0):
        everything = every_sentence(d13, 0, EOS, 4, alpha)
        (found,) = beam_search(TableModel(d13, EOS), ONE, 4, beam_size=100, alpha=alpha, n_best=100)
        assert ids_of(found) == ids_of(everything)


def test_D13_of_equals_the_one_with_the_lower_id_comes_first():
    fair = TableModel(lambda sentence, prefix: (0.0, 0.5, 0.5, 0.0) if not prefix else (0, 0, 0, 1.0), EOS)
    assert greedy_decode(fair, ONE, 4)[0].tolist() == [[A, EOS]]
    for size in (1, 2, 3):
        (found,) = beam_search(fair, ONE, 4, beam_size=size, n_best=size)
        assert ids_of(found) == [(A, EOS), (B, EOS)][:size]
    uniform = TableModel(lambda sentence, prefix: (0.0, 1 / 3, 1 / 3, 1 / 3), EOS)
    (found,) = beam_search(uniform, ONE, 3, beam_size=40, alpha=0, n_best=40)
    assert ids_of(found)[:5] == [(EOS,), (A, EOS), (B, EOS), (A, A, EOS), (A, B, EOS)]


def test_D13_of_equals_the_lower_id_wins_a_place_too():
    """Three equals for two places: A, B and C; whatever order `topk` has."""
    table = TableModel(
        lambda s, prefix: (0.0, 0.25, 0.25, 0.0, 0.25, 0.25) if not prefix else (0, 0, 0, 1, 0, 0), EOS
    )
    (found,) = beam_search(table, ONE, 3, beam_size=2, n_best=2)
    assert ids_of(found) == [(1, EOS), (2, EOS)]


def table_of(**rows):
    """A table by the last word; what is not in it ends."""
    letters = {None: "first", A: "a", B: "b"}
    return lambda s, prefix: (0.0, *rows.get(letters[prefix[-1] if prefix else None], (0.0, 0.0, 1.0)))


def test_D13_of_equals_the_one_that_began_with_the_lower_id_wins_a_place():
    """`A A` and `B A` are equal, with one place left; live ones do not stand in the order of their scores."""
    rows = table_of(first=(0.4, 0.6, 0.0), a=(0.6, 0.4, 0.0), b=(0.4, 0.6, 0.0))
    model = TableModel(lambda s, prefix: rows(s, prefix) if len(prefix) < 2 else (0.0, 0.0, 0.0, 1.0), EOS)
    (found,) = beam_search(model, ONE, 4, beam_size=2, n_best=2)
    assert ids_of(found) == [(B, B, EOS), (A, A, EOS)]


def test_D13_of_equals_the_lower_id_comes_first_even_if_it_ends_later():
    rows = table_of(first=(0.5, 0.5, 0.0), a=(0.5, 0.5, 0.0), b=(0.5, 0.0, 0.5))
    model = TableModel(lambda s, prefix: rows(s, prefix) if len(prefix) < 2 else (0.0, 0.0, 0.0, 1.0), EOS)
    for n_best in (1, 2):
        (found,) = beam_search(model, ONE, 4, beam_size=4, alpha=0, n_best=n_best)
        assert ids_of(found) == [(A, A, EOS), (A, B, EOS)][:n_best]


@pytest.mark.parametrize("V", [5, 5000])
def test_D13_the_largest_come_in_the_order_in_which_they_stand(V):
    rng = np.random.default_rng(0)
    for n in (1, 4, V):
        scores = rng.integers(0, 3, size=V).astype(float)
        scores[rng.random(V) < 0.3] = -np.inf
        expected = sorted((i for i in range(V) if scores[i] > -np.inf), key=lambda i: (-scores[i], i))[:n]
        assert best_of(torch.tensor(scores), n) == expected


def random_table(seed, V):
    """Probabilities for every prefix, drawn when they are asked for; some are 0, many equal."""

    def table(sentence, prefix):
        rng = np.random.default_rng([seed, sentence, *prefix, 99])
        weights = rng.integers(0, 4, size=V) + (np.arange(V) == rng.integers(V))
        return weights / weights.sum()

    return table


tables = st.builds(random_table, st.integers(0, 10_000), st.integers(2, 4))


alphas = st.sampled_from([0.0, 0.6, 1.0, 2.0])


@given(table=tables, alpha=alphas, n_best=st.integers(1, 4), longest=st.integers(1, 4))
@settings(max_examples=60)
def test_D13_a_wide_beam_equals_enumeration_of_all_sentences(table, alpha, n_best, longest):
    found = beam_search(TableModel(table, 1), torch.tensor([[0], [1]]), longest, 300, alpha, n_best)
    for b in (0, 1):
        expected = every_sentence(table, b, 1, longest, alpha)[:n_best]
        assert [h.score for h in found[b]] == pytest.approx([h.score for h in expected])
        assert [h.ended for h in found[b]] == [h.ended for h in expected]
        exact = {h.ids: h for h in every_sentence(table, b, 1, longest, alpha)}
        assert all(exact[h.ids].log_prob == pytest.approx(h.log_prob) for h in found[b])
        assert len({h.ids for h in found[b]}) == len(expected)


@given(table=tables, alpha=alphas)
@settings(max_examples=40)
def test_D13_a_beam_of_one_is_greedy(table, alpha):
    source = torch.tensor([[0], [1], [2]])
    rows, _ = greedy_decode(TableModel(table, 1, pad_id=-1), source, 5)
    found = beam_search(TableModel(table, 1, pad_id=-1), source, 5, beam_size=1, alpha=alpha)
    assert [list(h.ids) for (h,) in found] == [[t for t in row if t != -1] for row in rows.tolist()]


@given(table=tables, alpha=alphas, size=st.integers(1, 4), n_best=st.integers(1, 4))
@settings(max_examples=60)
def test_D14_stopping_early_changes_nothing(table, alpha, size, n_best):
    """The same search, gone on with until no place is left."""
    n_best = min(n_best, size)
    source, options = torch.tensor([[0], [1]]), (6, size, alpha, n_best)
    early = TableModel(table, 1)
    found = beam_search(early, source, *options)
    to_the_end = TableModel(table, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bertlab.nn.beam._Search.settled", lambda search: not search.live)
        assert beam_search(to_the_end, source, *options) == found
    assert sum(early.calls) <= sum(to_the_end.calls)


def test_D14_scores_with_the_penalty_of_wu_and_colleagues_end_token_counted():
    assert [-1.0 / length_penalty(2, 0.0), -1.6 / length_penalty(4, 0.0)] == [-1.0, -1.6]
    for alpha, h1, h2 in ((1.0, -0.857, -1.067), (0.6, -0.912, -1.254)):
        assert -1.0 / length_penalty(2, alpha) == pytest.approx(h1, abs=5e-4)
        assert -1.6 / length_penalty(4, alpha) == pytest.approx(h2, abs=5e-4)
    (found,) = beam_search(TableModel(d13, EOS), ONE, 4, 2, alpha=1.0, n_best=2)
    assert ids_of(found) == [(A, B, EOS), (B, EOS)]
    assert [h.score for h in found] == pytest.approx([math.log(0.1925) / (8 / 6), math.log(0.21) / (7 / 6)])


def worse_one_ends_first(sentence, prefix):
    """`A` ends at once with log p -1.0; `B B B B EOS` has -1.4: the better one with alpha = 1, not with 0."""
    a, b = math.exp(-1.0), math.exp(-1.4)
    if not prefix:
        return (0.0, a, b, 0.0, *[(1 - a - b) / 9] * 9)  # nine more, all of them worse
    end = prefix == (A,) or len(prefix) == 4
    return (*[0.0] * (EOS if end else prefix[-1]), 1.0, *[0.0] * (12 - (EOS if end else prefix[-1])))


@pytest.mark.parametrize(("alpha", "ids", "steps"), [(0.0, (A, EOS), 2), (1.0, (B, B, B, B, EOS), 5)])
def test_D14_the_search_goes_on_exactly_while_a_live_one_can_overtake(alpha, ids, steps):
    model = TableModel(worse_one_ends_first, EOS)
    ((best,),) = beam_search(model, ONE, max_length=6, beam_size=3, alpha=alpha)
    assert best.ids == ids
    assert len(model.calls) == steps


def test_sentences_that_are_done_leave_the_batch():
    """Sentence 0 ends at once, sentence 1 after five tokens."""
    model = TableModel(lambda s, p: (0, 0, 0, 1) if s == 0 or len(p) == 4 else (0, 0.5, 0.5, 0), EOS)
    found = beam_search(model, torch.tensor([[0], [1], [0]]), 9, beam_size=2)
    assert [len(h.ids) for (h,) in found] == [1, 5, 1]
    assert model.calls == [3, 2, 2, 2, 2]
    assert model.training  # the mode is put back


def test_a_finished_one_keeps_its_place():
    """Three places: one is taken in the first step, all in the second, though longer ones score better."""
    model = TableModel(lambda s, prefix: (0.0, 0.3, 0.3, 0.4), EOS)
    (found,) = beam_search(model, ONE, 9, beam_size=3, alpha=2.0, n_best=3)
    assert ids_of(found) == [(EOS,), (A, EOS), (B, EOS)]
    assert model.calls == [1, 2]


def test_what_was_cut_off_comes_after_all_that_ended():
    table = TableModel(lambda s, p: (0.0, 0.9, 0.0, 0.1), EOS)
    (found,) = beam_search(table, ONE, 3, beam_size=4, alpha=0, n_best=4)
    assert ids_of(found) == [(EOS,), (A, EOS), (A, A, EOS), (A, A, A)]
    assert [h.ended for h in found] == [True, True, True, False]
    assert found[3].log_prob > found[0].log_prob


def seq2seq():
    config = Seq2SeqConfig(source_vocab=12, target_vocab=12, d_embedding=6, d_model=8, cell="lstm")
    return Seq2Seq(config).double()


def transformer():
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 16, "n_layers": 2, "dropout": 0.1}
    return Transformer(TransformerConfig(source_vocab=12, target_vocab=12, **sizes)).double()


SOURCES = torch.randint(3, 12, (20, 5), generator=torch.Generator().manual_seed(0))
SOURCES[::2, 3:] = torch.tensor([1, 0])


@pytest.mark.parametrize("build", [seq2seq, transformer])
def test_the_batch_changes_nothing(build):
    model = build()
    together = beam_search(model, SOURCES, 8, 3, n_best=2)
    for row, expected in zip(SOURCES, together, strict=True):
        ((*alone,),) = beam_search(model, row[None][:, : 4 if row[4] == 0 else 5], 8, 3, n_best=2)
        assert ids_of(alone) == ids_of(expected)
        assert [h.score for h in alone] == pytest.approx([h.score for h in expected], abs=1e-10)


@pytest.mark.parametrize("build", [seq2seq, transformer])
def test_the_score_is_what_the_model_says_of_the_sentence(build):
    model = build().eval()
    for row, found in zip(SOURCES, beam_search(model, SOURCES, 8, 3, n_best=3), strict=True):
        for h in found:
            targets = torch.tensor([h.ids])
            log_p = model(row[None], targets).logits.log_softmax(-1)[0].gather(1, targets.T).sum().item()
            assert log_p == pytest.approx(h.log_prob, abs=1e-10)
            assert h.score == pytest.approx(log_p / ((5 + len(h.ids)) / 6) ** 0.6, abs=1e-10)


@pytest.mark.parametrize("build", [seq2seq, transformer])
def test_D13_a_beam_of_one_is_greedy_decoding_of_a_model(build):
    model = build()
    rows, _ = greedy_decode(model, SOURCES, 8)
    for row, (h,) in zip(rows.tolist(), beam_search(model, SOURCES, 8, beam_size=1), strict=True):
        assert list(h.ids) == row[: len(h.ids)]
        assert h.ended or len(h.ids) == 8


def test_a_cache_changes_no_sentence_and_no_weight():
    model = transformer()
    ids, weights = greedy_decode(model, SOURCES, 8, need_weights=True)
    ids_too, weights_too = greedy_decode(WithoutCache(model), SOURCES, 8, need_weights=True)
    assert torch.equal(ids, ids_too)
    torch.testing.assert_close(weights, weights_too, rtol=0, atol=1e-12)
    fast, slow = (beam_search(m, SOURCES, 8, 4, n_best=4) for m in (model, WithoutCache(model)))
    assert [ids_of(found) for found in fast] == [ids_of(found) for found in slow]
    assert [h.score for f in fast for h in f] == pytest.approx([h.score for f in slow for h in f], abs=1e-10)


@pytest.mark.parametrize(
    "options",
    [{"max_length": 0}, {"beam_size": 0}, {"n_best": 0}, {"alpha": -0.1}, {"beam_size": 2, "n_best": 3}],
)
def test_numbers_that_make_no_search_are_refused(options):
    name, value = list(options.items())[-1]
    with pytest.raises(ValueError, match=f"{name}={value}"):
        beam_search(TableModel(d13, EOS), ONE, **{"max_length": 4, **options})


def test_a_model_whose_probabilities_are_no_numbers_is_named():
    with pytest.raises(FloatingPointError, match="weights"):
        beam_search(TableModel(lambda s, p: (float("nan"),) * 4, EOS), ONE, 4)
