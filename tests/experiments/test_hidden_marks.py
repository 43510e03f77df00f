"""What is hidden is seen by nobody but itself; what is silenced is seen, and says nothing."""

from __future__ import annotations

import pytest
import torch

from bertlab.nn import BertConfig, BertModel
from bertlab.nn.masking import padding_mask
from hidden_marks import HIDDEN, VALUE, chosen, degrees, hide, silence


class Vocab:
    cls_id, sep_id = 101, 102


IDS = torch.tensor([[101, 7, 8, 9, 102, 0], [101, 5, 6, 7, 8, 102]])


def columns(what: str) -> torch.Tensor:
    """How many others may look at each piece: (B, T)."""
    mask = hide(what, Vocab())(IDS).expand(2, 1, 6, 6)[:, 0]
    assert mask.diagonal(dim1=1, dim2=2)[IDS != 0].all()  # itself
    return mask.sum(1) - mask.diagonal(dim1=1, dim2=2).int()


def test_with_nothing_hidden_only_padding_is_not_seen():
    mask = hide("nothing", Vocab())(IDS)
    torch.testing.assert_close(mask, padding_mask(IDS).expand_as(mask))


@pytest.mark.parametrize(("what", "gone"), [("[CLS]", {101}), ("[SEP]", {102}), ("both marks", {101, 102})])
def test_a_hidden_mark_is_seen_by_nobody_and_all_the_rest_by_all(what, gone):
    seen = columns(what)
    for row, ids in zip(seen.tolist(), IDS.tolist(), strict=True):
        assert row == [0 if i in gone or i == 0 else 5 for i in ids]


def test_one_ordinary_piece_of_each_text_is_hidden_always_the_same():
    seen = columns("a word")
    assert torch.equal(seen, columns("a word"))
    hidden = (seen == 0) & (IDS != 0)
    assert hidden.sum(1).tolist() == [1, 1]
    assert not {101, 102} & set(IDS[hidden].tolist())


def test_there_is_something_to_compare_with():
    assert HIDDEN[0] == "nothing"
    assert {"a word", f"{VALUE}a word"} <= set(HIDDEN)


class Model:
    tokenizer = Vocab()

    def __init__(self):
        torch.manual_seed(0)
        self.bert = BertModel(BertConfig.tiny(vocab_size=110)).eval().requires_grad_(False)
        self.layers = list(self.bert.encoder.layers)


def first_map(model: Model) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights of the first layer, and the values that are heard in the last."""
    heard: list[torch.Tensor] = []
    last = model.layers[-1].attention.value
    hook = last.register_forward_hook(lambda module, inputs, values: heard.append(values))
    weights = model.bert(IDS, mask=padding_mask(IDS), need_weights=True).weights[0]
    hook.remove()
    return weights, heard[0]


@pytest.mark.parametrize("what", ["[CLS]", "a word"])
def test_what_is_silenced_is_looked_at_as_before_and_its_value_is_0(what):
    model = Model()
    before, heard_before = first_map(model)
    with silence(VALUE + what, model):
        weights, heard = first_map(model)
    torch.testing.assert_close(weights, before)
    assert torch.equal((heard == 0).all(-1), chosen(what, IDS, Vocab()))
    assert torch.equal(first_map(model)[1], heard_before)  # nothing of it stays


@pytest.mark.parametrize("what", HIDDEN[:5])
def test_what_is_hidden_is_not_silenced(what):
    model = Model()
    with silence(what, model):
        assert not (first_map(model)[1] == 0).all(-1).any()


@pytest.mark.parametrize("what", HIDDEN[5:])
def test_what_is_silenced_is_not_hidden(what):
    torch.testing.assert_close(hide(what, Vocab())(IDS), hide("nothing", Vocab())(IDS))


def test_degrees_are_angles():
    a = torch.tensor([[1.0, 0.0], [2.0, 0.0]])
    b = torch.tensor([[3.0, 0.0], [0.0, 1.0]])
    assert degrees(a, b) == 45
    assert degrees(a, a) == 0
