"""BERT's input in words: each step for each token, with its numbers."""

from typing import NamedTuple

import numpy as np

from bertlab.viz.input_vectors import NAMES, InputVectors
from bertlab.viz.style import shown
from bertlab.viz.word_pieces import is_special

STEP_NAMES = {
    "tokens": "Tokens",
    "ids": "Ids",
    "token": "Token embedding",
    "segment": "Segment embedding",
    "position": "Position embedding",
    "sum": "Sum",
    "norm": "Layer norm",
}


class Told(NamedTuple):
    """One step for one token: its formula, and what happens in words."""

    formula: str
    text: str


def steps_of(inputs: InputVectors) -> list[str]:
    """The steps that can be shown: ids and layer norm only where they were given."""
    absent = {"ids": inputs.ids is None, "norm": inputs.normed is None}
    return [step for step in STEP_NAMES if not absent.get(step, False)]


def told(inputs: InputVectors, position: int) -> list[Told]:
    """Tell every step for the token at `position`, with its numbers.

    Parameters
    ----------
    inputs : InputVectors
    position : int
        From 0.

    Returns
    -------
    list of Told
        One for each of `steps_of(inputs)`.
    """
    sentences = {
        "tokens": _tokens_told,
        "ids": _ids_told,
        "token": _token_told,
        "segment": _segment_told,
        "position": _position_told,
        "sum": _sum_told,
        "norm": _norm_told,
    }
    return [sentences[step](inputs, position) for step in steps_of(inputs)]


def _tokens_told(inputs: InputVectors, i: int) -> Told:
    token, n = inputs.tokens[i], len(inputs.tokens)
    if token == "[CLS]":
        text = "[CLS] stands before every input: what the last layer makes of it stands for the whole."
    elif token == "[SEP]":
        text = "[SEP] ends a sentence: with two sentences there are two of them."
    elif is_special(token):
        text = f"“{token}” is no word: it is there for the model."
    elif token.startswith("##") and len(token) > 2:
        text = f"WordPiece has no single piece for this word: “{shown(token)}” goes on what stands before it."
    else:
        text = f"“{shown(token)}” is in the vocabulary, as a word or as the beginning of one."
    return Told(f"position {i} of 0 … {n - 1}: {shown(token)}", text)


def _ids_told(inputs: InputVectors, i: int) -> Told:
    token, ids = shown(inputs.tokens[i]), inputs.ids or ()
    text = f"The id is the row of “{token}” in the vocabulary. From here on its letters play no part."
    return Told(f"id({token}) = {ids[i]}", text)


def _token_told(inputs: InputVectors, i: int) -> Told:
    token, vector = shown(inputs.tokens[i]), inputs.token_vectors[i]
    same = np.flatnonzero((inputs.token_vectors == vector).all(axis=1))
    others = [str(j) for j in same if j != i][:3]
    also = f", here also at position {', '.join(others)}" if others else ""
    row = "A row" if inputs.ids is None else f"Row {inputs.ids[i]}"
    text = f"{row} of the token table, {inputs.width} numbers: the same wherever “{token}” stands{also}."
    return Told(f"token({token}) = {beginning(vector)}", text)


def _segment_told(inputs: InputVectors, i: int) -> Told:
    letter, count = inputs.letters[i], inputs.letters.count(inputs.letters[i])
    others = sorted(set(inputs.letters) - {letter})
    get = f"All {count} tokens of sentence {letter} get" if count > 1 else f"The one token of {letter} gets"
    rest = f"; those of {' and '.join(others)} get another one" if others else ""
    text = f"{get} this same vector{rest}. It tells the model which sentence a token belongs to."
    return Told(f"segment({letter}) = {beginning(inputs.segment_vectors[i])}", text)


def _position_told(inputs: InputVectors, i: int) -> Told:
    text = (
        f"Every input gets this same vector at position {i}, whatever token stands there. BERT learns it, as "
        "it learns the other two tables."
    )
    return Told(f"position({i}) = {beginning(inputs.position_vectors[i])}", text)


def _sum_told(inputs: InputVectors, i: int) -> Told:
    parts = [fixed(float(getattr(inputs, name)[i, 0])) for name in NAMES]
    total = fixed(float(inputs.sums[i, 0]))
    terms = " + ".join(f"({part})" if part.startswith("−") else part for part in parts)
    text = (
        f"The three are added number by number, not laid end to end: the sum has {inputs.width} numbers like "
        f"each of them, not 3 × {inputs.width} = {3 * inputs.width}."
    )
    return Told(f"first number: {terms} = {total}", text)


def _norm_told(inputs: InputVectors, i: int) -> Told:
    mean, spread = (fixed(float(x)) for x in (inputs.sums[i].mean(), inputs.sums[i].std()))
    text = (
        f"The {inputs.width} numbers of this token have mean {mean} and standard deviation {spread}: they "
        "get mean 0 and deviation 1, then each dimension its learnt gain and bias. This goes into layer 1."
    )
    return Told(f"layer norm(sum) = {beginning(inputs.normed[i])}", text)


def beginning(vector: np.ndarray) -> str:
    """The first three numbers of a vector."""
    rest = ", …" if len(vector) > 3 else ""
    return f"({', '.join(fixed(float(x)) for x in vector[:3])}{rest})"


def fixed(value: float) -> str:
    """A number with three decimals, one below the other in a table; embeddings are small.

    >>> fixed(-0.02), fixed(-0.0001)
    ('−0.020', '0.000')
    """
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text.replace("-", "−")
