"""GRU and LSTM of both wings, against plain loops, and what padding must not do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import loops
from tests.inputs import Arguments, Sizes, examples_of, some_gates
from tests.wing import Wing

close = np.testing.assert_allclose
READERS = {"gru": 3, "lstm": 4}  # and their number of gates


def tokens_in_order(mask: np.ndarray | None, n_steps: int, reverse: bool) -> list[int]:
    """The positions of one row that hold a token, as they are read."""
    real = [t for t in range(n_steps) if mask is None or mask[t]]
    return real[::-1] if reverse else real


def weights_of(reader: str, rng: np.random.Generator, d_input: int, d_model: int) -> Arguments:
    return some_gates(rng, Sizes(1, 1, 1, 1, 1, D=d_model, A=d_input), READERS[reader])


def last_state(result: Any) -> list[np.ndarray]:
    """(h,) of a GRU, (h, c) of an LSTM."""
    last = result[1]
    return list(last) if isinstance(last, tuple) else [last]


@examples_of("gru_cell")
def test_gru_cell_is_the_equations_unit_by_unit(wing: Wing, arguments: Arguments) -> None:
    x, h, *weights = arguments
    close(
        wing.gru_cell(*arguments),
        [loops.gru_cell(a, b, *weights) for a, b in zip(x, h, strict=True)],
        atol=1e-12,
    )


@examples_of("lstm_cell")
def test_lstm_cell_is_the_equations_unit_by_unit(wing: Wing, arguments: Arguments) -> None:
    x, h, c, *weights = arguments
    for found, row in zip(
        zip(*wing.lstm_cell(*arguments), strict=True), zip(x, h, c, strict=True), strict=True
    ):
        for one, by_loop in zip(found, loops.lstm_cell(*row, *weights), strict=True):
            close(one, by_loop, atol=1e-12)


@examples_of("gru")
def test_gru_reads_the_tokens_of_each_row_and_skips_its_padding(wing: Wing, arguments: Arguments) -> None:
    x, mask, *weights, h0, reverse = arguments
    states, last = wing.gru(*arguments)
    for b in range(len(x)):
        h = np.zeros(states.shape[-1]) if h0 is None else h0[b]
        by_loop = np.zeros(states.shape[1:])
        for t in tokens_in_order(None if mask is None else mask[b], x.shape[1], reverse):
            h = by_loop[t] = loops.gru_cell(x[b, t], h, *weights)
        close(states[b], by_loop, atol=1e-12)
        close(last[b], h, atol=1e-12)


@examples_of("lstm")
def test_lstm_reads_the_tokens_of_each_row_and_skips_its_padding(wing: Wing, arguments: Arguments) -> None:
    x, mask, *weights, h0, c0, reverse, w_project = arguments
    states, last = wing.lstm(*arguments)
    for b in range(len(x)):
        firsts = zip((h0, c0), last, strict=True)
        h, c = (np.zeros(part.shape[-1]) if first is None else first[b] for first, part in firsts)
        by_loop = np.zeros(states.shape[1:])
        for t in tokens_in_order(None if mask is None else mask[b], x.shape[1], reverse):
            h, c = loops.lstm_cell(x[b, t], h, c, *weights, w_project)
            by_loop[t] = h
        close(states[b], by_loop, atol=1e-12)
        for part, one in zip(last, (h, c), strict=True):
            close(part[b], one, atol=1e-12)


def test_a_projection_that_does_not_fit_is_refused(wing: Wing, rng: np.random.Generator) -> None:
    gates = weights_of("lstm", rng, 4, 3)  # reads states of width 3
    with pytest.raises(ValueError, match=r"w_project of shape \(2, 3\).*width 2.*reads 3"):
        wing.lstm(rng.normal(size=(1, 2, 4)), None, *gates, w_project=rng.normal(size=(2, 3)))
    with pytest.raises(ValueError, match="width 5 need 20 rows"):
        wing.lstm(rng.normal(size=(1, 2, 4)), None, *gates, w_project=rng.normal(size=(3, 5)))


@pytest.mark.parametrize("reverse", [False, True], ids=["ahead", "back"])
@pytest.mark.parametrize("reader", READERS)
def test_what_stands_in_the_padding_changes_nothing(
    wing: Wing, rng: np.random.Generator, reader: str, reverse: bool
) -> None:
    x, weights = rng.normal(size=(2, 5, 3)), weights_of(reader, rng, 3, 4)
    mask = np.array([[True, True, True, False, False], [True] * 5])
    before = getattr(wing, reader)(x, mask, *weights, reverse=reverse)
    x[0, 3:] = 1e3
    after = getattr(wing, reader)(x, mask, *weights, reverse=reverse)
    np.testing.assert_array_equal(after[0], before[0])
    for one, other in zip(last_state(after), last_state(before), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (after[0][0, 3:] == 0).all()


@pytest.mark.parametrize("reader", READERS)
def test_reading_back_starts_at_the_last_token_not_in_the_padding(
    wing: Wing, rng: np.random.Generator, reader: str
) -> None:
    x, weights = rng.normal(size=(1, 5, 3)), weights_of(reader, rng, 3, 4)
    read: Callable[..., Any] = getattr(wing, reader)
    first = {"h0": rng.normal(size=(1, 4))}  # a state that padding must not wear out
    padded, short = (
        read(x, np.array([[True, True, True, False, False]]), *weights, reverse=True, **first),
        read(x[:, :3], None, *weights, reverse=True, **first),
    )
    close(padded[0][:, :3], short[0], atol=1e-12)
    close(last_state(padded), last_state(short), atol=1e-12)


@pytest.mark.parametrize("reader", READERS)
def test_reading_back_is_reading_the_mirrored_sequence(
    wing: Wing, rng: np.random.Generator, reader: str
) -> None:
    x, weights = rng.normal(size=(2, 4, 3)), weights_of(reader, rng, 3, 2)
    back = getattr(wing, reader)(x, None, *weights, reverse=True)
    ahead = getattr(wing, reader)(x[:, ::-1].copy(), None, *weights)
    close(back[0], ahead[0][:, ::-1], atol=1e-12)
    close(last_state(back), last_state(ahead), atol=1e-12)


@pytest.mark.parametrize("reader", READERS)
def test_a_row_without_a_single_token_keeps_its_first_state(
    wing: Wing, rng: np.random.Generator, reader: str
) -> None:
    x, weights, h0 = rng.normal(size=(2, 3, 3)), weights_of(reader, rng, 3, 4), rng.normal(size=(2, 4))
    states, *_ = result = getattr(wing, reader)(x, np.array([[False] * 3, [True] * 3]), *weights, h0=h0)
    assert (states[0] == 0).all()
    np.testing.assert_array_equal(last_state(result)[0][0], h0[0])
    assert (states[1] != 0).all()


@pytest.mark.parametrize("reader", READERS)
def test_the_past_reaches_later_states_and_the_future_does_not(
    wing: Wing, rng: np.random.Generator, reader: str
) -> None:
    x, weights = rng.normal(size=(1, 4, 3)), weights_of(reader, rng, 3, 2)
    before, _ = getattr(wing, reader)(x, None, *weights)
    x[0, 2] += 1
    after, _ = getattr(wing, reader)(x, None, *weights)
    np.testing.assert_array_equal(after[:, :2], before[:, :2])
    assert (after[:, 2:] != before[:, 2:]).all()


WRONG_MASKS = {
    "numbers": np.ones((2, 3)),
    "the mask of attention": np.ones((2, 1, 1, 3), dtype=bool),
    "time first": np.ones((3, 2), dtype=bool),
}


@pytest.mark.parametrize("mistake", WRONG_MASKS)
@pytest.mark.parametrize("reader", READERS)
def test_a_mask_that_is_not_one_bool_a_token_is_refused(
    wing: Wing, rng: np.random.Generator, reader: str, mistake: str
) -> None:
    with pytest.raises(ValueError, match=r"expected bool of \(2, 3\): pass ids != pad_id"):
        getattr(wing, reader)(
            rng.normal(size=(2, 3, 4)), WRONG_MASKS[mistake], *weights_of(reader, rng, 4, 2)
        )


@pytest.mark.parametrize("reader", READERS)
def test_a_sequence_without_its_batch_axis_is_refused(
    wing: Wing, rng: np.random.Generator, reader: str
) -> None:
    with pytest.raises(ValueError, match=r"\(3, 4\).*\(B, T, D_in\)"):
        getattr(wing, reader)(rng.normal(size=(3, 4)), None, *weights_of(reader, rng, 4, 2))


@pytest.mark.parametrize("reader", READERS)
def test_a_first_state_of_another_batch_is_refused(wing: Wing, rng: np.random.Generator, reader: str) -> None:
    x, weights = rng.normal(size=(2, 3, 4)), weights_of(reader, rng, 4, 2)
    with pytest.raises(ValueError, match=r"first state of shape \(1, 2\).*\(2, 2\)"):
        getattr(wing, reader)(x, None, *weights, h0=np.zeros((1, 2)))


@pytest.mark.parametrize(("reader", "other"), [("gru", "lstm"), ("lstm", "gru")])
def test_the_weights_of_the_other_cell_are_refused(
    wing: Wing, rng: np.random.Generator, reader: str, other: str
) -> None:
    with pytest.raises(ValueError, match=f"{READERS[reader]} gates"):
        getattr(wing, reader)(rng.normal(size=(2, 3, 4)), None, *weights_of(other, rng, 4, 3))
