"""Skip-gram and CBOW in both wings, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inputs import Arguments, examples_of
from tests.wing import Wing
from tests.wings.test_negative_sampling import surprise


@examples_of("skip_gram_loss")
def test_skip_gram_asks_the_centre_word_s_vector_for_each_target(wing: Wing, arguments: Arguments) -> None:
    centres, targets, negatives, params, share = arguments
    wanted = [
        surprise(params["input.weight"][centre], target, noise, params["output.weight"], share)
        for centre, target, noise in zip(centres, targets, negatives.tolist(), strict=True)
    ]
    assert wing.skip_gram_loss(*arguments) == pytest.approx(np.mean(wanted), abs=1e-10)


@examples_of("cbow_loss")
def test_cbow_asks_the_mean_of_the_words_around(wing: Wing, arguments: Arguments) -> None:
    contexts, mask, targets, negatives, params, share = arguments
    wanted = []
    for row, real, target, noise in zip(contexts, mask, targets, negatives.tolist(), strict=True):
        words = [params["input.weight"][word] for word, is_real in zip(row, real, strict=True) if is_real]
        mean = [sum(numbers) / len(words) for numbers in zip(*words, strict=True)]
        wanted.append(surprise(mean, target, noise, params["output.weight"], share))
    assert wing.cbow_loss(*arguments) == pytest.approx(np.mean(wanted), abs=1e-10)


@examples_of("cbow_loss")
def test_what_is_masked_changes_nothing_and_learns_nothing(wing: Wing, arguments: Arguments) -> None:
    contexts, mask, *_, params, _ = arguments
    other = np.where(mask, contexts, (contexts + 1) % len(params["input.weight"]))
    assert wing.cbow_loss(other, *arguments[1:]) == wing.cbow_loss(*arguments)
    gradient = wing.cbow_loss_vjp(1.0, *arguments)["input.weight"]
    unseen = np.setdiff1d(np.arange(len(gradient)), contexts[mask])
    assert (gradient[unseen] == 0).all()


@examples_of("cbow_loss")
def test_the_order_of_the_words_around_means_nothing(wing: Wing, arguments: Arguments) -> None:
    contexts, mask, *rest = arguments
    turned = wing.cbow_loss(contexts[:, ::-1].copy(), mask[:, ::-1].copy(), *rest)
    assert turned == pytest.approx(wing.cbow_loss(*arguments), abs=1e-12)


@examples_of("skip_gram_loss")
def test_cbow_with_one_word_around_is_skip_gram(wing: Wing, arguments: Arguments) -> None:
    centres, *rest = arguments
    cbow = wing.cbow_loss(centres[:, None], np.ones((len(centres), 1), bool), *rest)
    assert cbow == pytest.approx(wing.skip_gram_loss(*arguments), abs=1e-12)


def test_a_place_without_words_around_is_refused(wing: Wing) -> None:
    params = {"input.weight": np.ones((2, 1)), "output.weight": np.ones((2, 1))}
    mask = np.array([[True], [False]])
    with pytest.raises(ValueError, match="row 1 of mask has no word"):
        wing.cbow_loss(np.zeros((2, 1), int), mask, np.zeros(2, int), np.zeros((2, 1), int), params)


@pytest.mark.parametrize("name", ["skip_gram_loss", "cbow_loss"])
def test_a_table_too_few_or_too_many_is_named(wing: Wing, name: str) -> None:
    one = np.zeros(1, int)
    first = (one,) if name == "skip_gram_loss" else (one[:, None], np.ones((1, 1), bool))
    with pytest.raises(ValueError, match=r"lacks \['output.weight'\] and has \['bias'\] left over"):
        getattr(wing, name)(*first, one, one[:, None], {"input.weight": np.ones((1, 1)), "bias": np.ones(1)})
