"""The character CNN of both wings, against plain loops: what a filter sees, and what it must not see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests import loops
from tests.inputs import CONCEPTS, Arguments, Sizes, examples_of
from tests.wing import Wing
from tests.wings.test_highway import by_loop as highway_by_loop

close = np.testing.assert_allclose


def numbered(params: dict[str, np.ndarray], part: str) -> list[dict[str, np.ndarray]]:
    """Parameters of the filters or highways, in their order."""
    own = {name.removeprefix(f"{part}."): v for name, v in params.items() if name.startswith(f"{part}.")}
    n = len({name[0] for name in own})
    return [{k.partition(".")[2]: v for k, v in own.items() if k.startswith(f"{i}.")} for i in range(n)]


def by_loop(word: np.ndarray, params: dict[str, np.ndarray]) -> list[float]:
    """One word, filter by filter and place by place; behind its end there are zeros."""
    vectors = [params["characters.weight"][character] for character in word if character]
    found = []
    for one in numbered(params, "filters"):
        for weight, bias in zip(one["weight"], one["bias"], strict=True):  # (A, w)
            matches = [
                bias + sum(
                    loops.dot(weight[:, k], vectors[start + k])
                    for k in range(weight.shape[1]) if start + k < len(vectors)
                )
                for start in range(len(vectors))
            ]  # fmt: skip
            found.append(loops.relu(max(matches, default=0.0)))
    for layer in numbered(params, "highways"):
        found = highway_by_loop(np.array(found), layer)
    return loops.linear(found, params["project.weight"], params["project.bias"])


@examples_of("character_cnn")
def test_a_filter_is_its_best_match_in_the_word(wing: Wing, arguments: Arguments) -> None:
    characters, params = arguments
    found = wing.character_cnn(*arguments)
    for b, t in np.ndindex(characters.shape[:2]):
        close(found[b, t], by_loop(characters[b, t], params), atol=1e-12)


def some(rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    return CONCEPTS["character_cnn"](Sizes(B=2, Tq=3, Tk=4, H=2, K=3, D=5, A=6), rng)


def test_how_far_a_word_is_filled_up_changes_nothing(wing: Wing, rng: np.random.Generator) -> None:
    characters, params = some(rng)
    longer = np.concatenate([characters, np.zeros((2, 3, 7), dtype=int)], axis=-1)
    close(wing.character_cnn(longer, params), wing.character_cnn(characters, params), atol=1e-12)


def test_the_row_of_no_character_counts_nowhere_and_gets_no_gradient(
    wing: Wing, rng: np.random.Generator
) -> None:
    characters, params = some(rng)
    before = wing.character_cnn(characters, params)
    other = params["characters.weight"].copy()
    other[0] = 1e3
    np.testing.assert_array_equal(
        wing.character_cnn(characters, {**params, "characters.weight": other}), before
    )
    gradients: Any = wing.character_cnn_vjp(np.ones_like(before), characters, params)
    assert (gradients["characters.weight"][0] == 0).all()
    assert (gradients["characters.weight"] != 0).any()


def test_words_without_a_character_are_all_alike(wing: Wing, rng: np.random.Generator) -> None:
    _, params = some(rng)
    found = wing.character_cnn(np.zeros((2, 3), dtype=int), params)
    assert np.isfinite(found).all()
    close(found[0], found[1], atol=1e-12)


def test_a_character_without_a_row_is_refused(wing: Wing, rng: np.random.Generator) -> None:
    _, params = some(rng)
    for strange in (7, -1):
        with pytest.raises(ValueError, match=f"{strange} .*table of 7"):
            wing.character_cnn(np.array([[1, strange]]), params)
