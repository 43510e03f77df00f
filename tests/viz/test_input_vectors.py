"""What goes into BERT: checked, and added."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.viz.input_vectors import InputVectors

TOKENS = ["[CLS]", "the", "cat", "[SEP]", "the", "dog", "[SEP]"]
SEGMENTS = [0, 0, 0, 0, 1, 1, 1]
IDS = [2, 5, 6, 3, 5, 7, 3]


@pytest.fixture
def given():
    """Rows of three tables, as the arguments of InputVectors."""
    rng = np.random.default_rng(0)
    tokens, segments, positions = (rng.normal(size=(n, 16)) for n in (10, 2, 20))
    return {
        "tokens": TOKENS,
        "segments": SEGMENTS,
        "token_vectors": tokens[IDS],
        "segment_vectors": segments[SEGMENTS],
        "position_vectors": positions[:7],
        "ids": IDS,
    }


def layer_norm(x, gain, bias):
    return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True) * gain + bias


def test_the_sum_is_the_input_of_transformers_bert_before_and_its_layer_norm_after():
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    tables = BertModel(BertConfig(vocab_size=10, **sizes)).eval().embeddings
    torch.nn.init.normal_(tables.LayerNorm.weight)
    torch.nn.init.normal_(tables.LayerNorm.bias)
    ids, segments = torch.tensor([IDS]), torch.tensor([SEGMENTS])
    sums = []
    tables.LayerNorm.register_forward_pre_hook(lambda _, args: sums.append(args[0]))
    normed = tables(input_ids=ids, token_type_ids=segments)
    inputs = InputVectors(
        tokens=TOKENS,
        segments=segments,
        token_vectors=tables.word_embeddings(ids),
        segment_vectors=tables.token_type_embeddings(segments),
        position_vectors=tables.position_embeddings.weight[:7],
        ids=ids,
        normed=normed,
    )
    np.testing.assert_allclose(inputs.sums, sums[0][0].detach(), atol=1e-6)
    assert inputs.segments == tuple(SEGMENTS)
    assert inputs.ids == tuple(IDS)
    assert (inputs.width, inputs.letters[3:5]) == (16, ["A", "B"])
    assert list(inputs.rows) == ["token", "segment", "position", "sum", "norm"]


def test_without_ids_and_layer_norm_the_rows_are_three_and_their_sum(given):
    inputs = InputVectors(**given | {"ids": None})
    assert list(inputs.rows) == ["token", "segment", "position", "sum"]
    np.testing.assert_allclose(
        inputs.sums, given["token_vectors"] + given["segment_vectors"] + given["position_vectors"]
    )


def test_a_layer_norm_is_known_by_its_gain_and_bias_and_something_else_is_refused(given):
    rng = np.random.default_rng(1)
    sums = InputVectors(**given).sums
    good = layer_norm(sums, rng.normal(size=16), rng.normal(size=16))
    np.testing.assert_array_equal(InputVectors(**given, normed=good).normed, good)
    rounded = torch.from_numpy(good).bfloat16()
    assert InputVectors(**given, normed=rounded).rows["norm"].shape == (7, 16)
    for wrong in (sums[::-1], rng.normal(size=(7, 16)), good + 0.3 * rng.normal(size=(7, 16))):
        with pytest.raises(ValueError, match="no gain and bias make one of the other"):
            InputVectors(**given, normed=wrong)


def test_two_tokens_fit_any_layer_norm_as_the_docstring_says(given):
    two = {name: value[:2] for name, value in given.items()}
    InputVectors(**two, normed=np.random.default_rng(0).normal(size=(2, 16)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"position_vectors": np.ones((20, 16))},
            r"but there are 7 tokens: give a row .*position_table\[:7\]",
        ),
        (
            {"segment_vectors": np.ones((2, 16))},
            r"segment_vectors has shape \(2, 16\).*segment_table\[segments\]",
        ),
        ({"token_vectors": None}, r"token_vectors is None: give a row"),
        ({"segment_vectors": np.ones((7, 8))}, "segment_vectors is 8 wide, token_vectors 16: .*in one width"),
        ({"token_vectors": np.ones((3, 7, 16))}, r"a batch of 3: choose one, as in token_vectors\[0\]"),
        ({"token_vectors": np.full((7, 16), np.nan)}, "token_vectors holds nan or infinity"),
        ({"normed": np.ones((6, 16))}, "normed has shape"),
        (
            {"segments": [0, 1]},
            r"segments of shape \(2,\) and type int64: give a whole number for each of the 7",
        ),
        ({"segments": [0.5] * 7}, "type float64"),
        ({"segments": [-1] * 7}, "give 0 for sentence A, and 1 for sentence B"),
        ({"ids": np.ones((2, 7), dtype=int)}, "tokens of one example"),
        ({"tokens": "the cat"}, "give a list of strings"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_fix(given, change, said):
    with pytest.raises(ValueError, match=said):
        InputVectors(**given | change)


def test_one_segment_or_one_id_with_two_vectors_is_no_row_of_a_table(given):
    for name, said in (
        ("segment_vectors", "tokens 0 and 3 have the same segment 0"),
        ("token_vectors", "same id 3"),
    ):
        changed = given[name].copy()
        changed[3] += 0.01
        with pytest.raises(ValueError, match=f"{said}.*before anything is added"):
            InputVectors(**given | {name: changed})
