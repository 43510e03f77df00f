"""How an exercise is checked: by a sentence that says *what* is wrong, never just that it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

from numpy.typing import ArrayLike

Answer = TypeVar("Answer")


class Mistake(Exception):
    """What is wrong with an answer, in a sentence for its author."""


def expect(condition: bool, sentence: str) -> None:
    """Stop a check with the sentence that describes the mistake.

    Parameters
    ----------
    condition : what must hold.
    sentence : what the likely mistake is, if it does not.

    Raises
    ------
    Mistake
        If the condition does not hold.
    """
    if not condition:
        raise Mistake(sentence)


def close(answer: ArrayLike, wanted: ArrayLike, tolerance: float = 1e-6) -> bool:
    """Tell whether two arrays (NumPy, PyTorch, lists) have the same shape and nearly the same values."""
    import numpy as np

    a, w = np.asarray(answer, dtype=float), np.asarray(wanted, dtype=float)
    return a.shape == w.shape and bool(np.allclose(a, w, rtol=0, atol=tolerance, equal_nan=False))


def exercise(title: str) -> Callable[[Callable[[Answer], None]], Callable[[Answer], None]]:
    """Turn a function that raises `Mistake` into a check that prints one line.

    Parameters
    ----------
    title : name of the exercise, as the notebook writes it.

    Returns
    -------
    decorator of a function of one argument, the student's answer: a function, a number or an array. An answer
    that is None or ``...``, or a function that returns one of them, counts as not tried yet.

    Examples
    --------
    >>> @exercise("Warm-up")
    ... def check_double(double):
    ...     expect(double(2) == 4, f"double(2) is {double(2)}, not 4: multiply by two")
    >>> check_double(lambda x: x * x * x)
    ✗ Warm-up: double(2) is 8, not 4: multiply by two
    >>> check_double(lambda x: x + x)
    ✓ Warm-up: right.
    >>> check_double(lambda x: ...)
    ○ Warm-up: not tried yet.
    """

    def decorate(check: Callable[[Answer], None]) -> Callable[[Answer], None]:
        @functools.wraps(check)
        def report(answer: Answer) -> None:
            print(_verdict(check, answer, title))

        return report

    return decorate


class _Untouched(Exception):
    """The answer is still the stub."""


def _verdict(check: Callable[[Answer], None], answer: Answer, title: str) -> str:
    """Run a check and put its outcome in a line."""
    try:
        check(_watched(answer))
    except _Untouched:
        return f"○ {title}: not tried yet."
    except Mistake as mistake:
        return f"✗ {title}: {mistake}"
    except Exception as error:
        return f"✗ {title}: your code stopped with {type(error).__name__}: {error}"
    return f"✓ {title}: right."


def _watched(answer: Answer) -> Answer:
    """Raise `_Untouched` where a stub shows: at once for a value, at its first call for a function."""
    if answer is None or answer is ...:
        raise _Untouched
    if not callable(answer):
        return answer

    @functools.wraps(answer)
    def call(*args: object, **kwargs: object) -> object:
        value = answer(*args, **kwargs)
        if value is None or value is ...:
            raise _Untouched
        return value

    return call  # type: ignore[return-value]
