"""Claims about writing a sentence from a model's probabilities."""

from __future__ import annotations

import pytest
import torch

from bertlab.nn import Seq2Seq, Seq2SeqConfig, Transformer, TransformerConfig, greedy_decode

SHORT = torch.tensor([[5, 6, 7, 1]])


def build(attention: str) -> Seq2Seq:
    torch.manual_seed(0)
    config = Seq2SeqConfig(source_vocab=12, target_vocab=11, d_embedding=6, d_model=8, attention=attention)
    return Seq2Seq(config).double().eval()


def test_greedy_decoding_writes_what_the_model_finds_most_probable_step_by_step():
    model = build("dot")
    source = torch.tensor([[5, 6, 7, 1], [8, 1, 0, 0]])
    ids, weights = greedy_decode(model, source, max_length=6)
    out = model(source, ids)  # feeding its own words back gives the same words
    alive = ids != 0
    assert torch.equal(out.logits.argmax(-1)[alive], ids[alive])
    torch.testing.assert_close(weights[alive], out.weights[alive])


def test_greedy_decoding_pads_after_the_end_and_stops_when_all_have_ended():
    model = build("dot")
    with torch.no_grad():
        model.decoder.output.bias[1] = 1e3  # the end token always wins
    ids, _ = greedy_decode(model.train(), SHORT.expand(3, -1), max_length=6)
    assert ids.tolist() == [[1], [1], [1]]
    assert model.training  # the mode is put back
    with torch.no_grad():
        model.decoder.output.bias[1] = -1e3  # and now never
    ids, _ = greedy_decode(model, SHORT, max_length=6)
    assert ids.shape == (1, 6)


def test_greedy_decoding_takes_the_lowest_id_of_equals():
    model = build("none")
    with torch.no_grad():
        model.decoder.output.weight.zero_()
        model.decoder.output.bias.zero_()
        model.decoder.output.bias[[4, 7]] = 1.0
    assert greedy_decode(model, SHORT, max_length=2)[0].tolist() == [[4, 4]]


def test_greedy_decoding_refuses_a_length_of_nothing():
    with pytest.raises(ValueError, match="max_length=0"):
        greedy_decode(build("dot"), SHORT, max_length=0)


def test_a_sentence_that_ended_early_is_padded_while_others_go_on():
    model = build("dot")
    source = torch.randint(3, 12, (64, 5), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        model.decoder.output.bias[1] -= 0.1  # so that some end soon and some late
    ids, weights = greedy_decode(model, source, max_length=12)
    after_end = (ids == 1).cumsum(dim=1) - (ids == 1).int() > 0
    assert after_end.any()
    assert (ids[:, -1] != 0).any()
    assert (ids[after_end] == 0).all()
    assert (weights[after_end] == 0).all()
    assert (weights[~after_end].sum(-1) - 1).abs().max() < 1e-12


def test_the_weights_of_a_transformer_come_on_request():
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 16, "n_layers": 3}
    model = Transformer(TransformerConfig(source_vocab=12, target_vocab=12, **sizes)).double()
    source = torch.tensor([[5, 6, 7, 1], [8, 1, 0, 0]])
    ids, nothing = greedy_decode(model, source, max_length=6)
    same, weights = greedy_decode(model, source, max_length=6, need_weights=True)
    assert nothing is None
    assert torch.equal(ids, same)
    assert weights.shape == (2, 3, 2, ids.shape[1], 4)  # (B, L, H, Tt, Ts)
    by_training = model.eval()(source, ids, need_weights=True).weights.cross
    after_end = (ids == 1).cumsum(dim=1) - (ids == 1).int() > 0
    for layer, expected in enumerate(by_training):
        expected = expected.masked_fill(after_end[:, None, :, None], 0.0)
        torch.testing.assert_close(weights[:, layer], expected, rtol=0, atol=1e-12)


def test_the_weights_of_a_transformer_are_zero_after_the_end():
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 16, "n_layers": 1}
    model = Transformer(
        TransformerConfig(source_vocab=12, target_vocab=12, share_embeddings="none", **sizes)
    ).double()
    source = torch.randint(3, 12, (64, 5), generator=torch.Generator().manual_seed(0))
    ids, weights = greedy_decode(model, source, max_length=12, need_weights=True)
    after_end = (ids == 1).cumsum(dim=1) - (ids == 1).int() > 0
    assert after_end.any()
    assert (~after_end[:, -1]).any()
    assert (ids[after_end] == 0).all()
    by_token = weights.transpose(1, 3)  # (B, Tt, H, L, Ts)
    assert (by_token[after_end] == 0).all()
    assert (by_token[~after_end].sum(-1) - 1).abs().max() < 1e-12
