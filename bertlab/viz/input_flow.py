"""The explorer of BERT's input: from tokens to the vectors that go into the first layer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from bertlab.viz.embedding_sum import draw_embedding_sum
from bertlab.viz.input_told import STEP_NAMES, fixed, steps_of, told
from bertlab.viz.input_vectors import InputVectors
from bertlab.viz.payload import MOST_CELLS, cells
from bertlab.viz.style import shown
from bertlab.viz.widget import Widget, script

MOST_NUMBERS = 6  # of a vector that are written out


class InputFlow(Widget):
    """How BERT's input comes about, step by step.

    Attributes
    ----------
    step : int
        From 0: tokens, ids (if given), token, segment, position embedding, sum, layer norm (if given).
    position : int
        Of the token whose numbers are told.
    """

    _esm = script("input_flow")
    step = traitlets.Int(0).tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)

    def __init__(self, inputs: InputVectors, step: int, position: int) -> None:
        self.inputs = inputs
        super().__init__(flow_payload(inputs), step=step, position=position)

    @traitlets.validate("step", "position")
    def _there(self, proposal: dict[str, Any]) -> int:
        name: str = proposal["trait"].name
        value: int = proposal["value"]
        n = len(self.inputs.tokens) if name == "position" else len(steps_of(self.inputs))
        if not 0 <= value < n:
            raise ValueError(f"{name}={value}: there are {n}, from 0")
        return value

    def still(self) -> Figure:
        """All vectors and their sum, with the chosen token marked."""
        return draw_embedding_sum(self.inputs, self.position)

    @property
    def alt(self) -> str:
        """The picture in words."""
        inputs = self.inputs
        norm = "" if inputs.normed is None else ", and after layer norm"
        return (
            f"BERT's input for “{' '.join(map(shown, inputs.tokens))}”: a token, a segment and a position "
            f"embedding for each token, all {inputs.width} wide, and their sum{norm}; marked is "
            f"“{shown(inputs.tokens[self.position])}” at position {self.position}."
        )


def flow_payload(inputs: InputVectors) -> dict[str, Any]:
    """What the browser draws and tells.

    Parameters
    ----------
    inputs : InputVectors

    Returns
    -------
    dict
        Ready for JSON.
    """
    n, rows = len(inputs.tokens), inputs.rows
    added = [name for name in rows if name != "norm"]
    scaled = cells(np.vstack([rows[name] for name in added]))  # one scale: what is added can be compared
    drawn = {name: scaled[i * n : (i + 1) * n] for i, name in enumerate(added)}
    drawn |= {"norm": cells(rows["norm"])} if "norm" in rows else {}
    return {
        "tokens": list(inputs.tokens),
        "ids": None if inputs.ids is None else list(inputs.ids),
        "letters": inputs.letters,
        "steps": [[step, STEP_NAMES[step]] for step in steps_of(inputs)],
        "cells": drawn,
        "numbers": {name: [_numbers(vector) for vector in vectors] for name, vectors in rows.items()},
        "told": [told(inputs, i) for i in range(n)],
        "width": inputs.width,
        "note": _note(inputs),
    }


def _numbers(vector: np.ndarray) -> list[str]:
    return [fixed(float(value)) for value in vector[:MOST_NUMBERS]]


def _note(inputs: InputVectors) -> str:
    drawn = min(MOST_CELLS, inputs.width)
    note = f"Drawn: the first {drawn} of {inputs.width} numbers of each vector, to the right if positive"
    note += ", to the left if negative; the three and their sum on one scale"
    if inputs.normed is not None:
        note += ", the layer norm on its own. The sum is computed here, the layer norm was given by the model"
    return f"{note}. Numbers are rounded."


def input_flow(
    tokens: Sequence[str],
    segments: Any,
    token_vectors: Any,
    segment_vectors: Any,
    position_vectors: Any,
    *,
    ids: Any = None,
    normed: Any = None,
    position: int = 0,
    step: int = 0,
) -> InputFlow:
    """Follow one sentence, or a pair, into BERT: tokens, ids, three embeddings, their sum, layer norm.

    Parameters
    ----------
    tokens : sequence of T strings
        WordPiece tokens with [CLS] and [SEP].
    segments : sequence of T whole numbers
        0 for the first sentence (A), 1 for the second (B): the tokenizer's `token_type_ids`.
    token_vectors, segment_vectors, position_vectors : (T, D) arrays or tensors
        The rows of the model's three tables that belong to each token. A batch of one is fine.
    ids : sequence of T whole numbers, optional
        The tokenizer's `input_ids`.
    normed : (T, D) array or tensor, optional
        What the model's layer norm makes of the sum, without dropout. Its gain and bias are not known here.
        That there are some which explain it is checked, but two tokens always have them.
    position, step : int
        The token, and the step, to begin with; both from 0.

    Returns
    -------
    InputFlow
        Its `step` and `position` can be read and set.

    Raises
    ------
    ValueError
        If shapes do not fit, one segment (or one id) has two vectors, `normed` is no layer norm of the sum,
        or there is no such position or step.

    References
    ----------
    Devlin et al. 2019, sec. 3, fig. 2.

    Examples
    --------
    Of a BERT of transformers, without dropout (``model.eval()``)::

        given, tables = tokenizer("my dog is cute", "he likes playing", return_tensors="pt"), model.embeddings
        ids, segments = given.input_ids[0], given.token_type_ids[0]
        viz.input_flow(
            tokenizer.convert_ids_to_tokens(ids),
            segments,
            tables.word_embeddings(ids),
            tables.token_type_embeddings(segments),
            tables.position_embeddings.weight[: len(ids)],
            ids=ids,
            normed=tables(given.input_ids, given.token_type_ids),
        )
    """
    inputs = InputVectors(
        tokens=tokens,
        segments=segments,
        token_vectors=token_vectors,
        segment_vectors=segment_vectors,
        position_vectors=position_vectors,
        ids=ids,
        normed=normed,
    )
    return InputFlow(inputs, step, position)
