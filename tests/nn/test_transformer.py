"""Claims about the whole Transformer: the shift, the masks, the embeddings, and how it writes stepwise."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from bertlab.nn import Transformer, TransformerConfig
from bertlab.nn.losses import cross_entropy
from bertlab.nn.masking import causal_mask
from bertlab.nn.positions import sinusoidal_positions
from bertlab.nn.seq2seq import shift_right
from bertlab.nn.transformer import WithoutCache

CONFIG = TransformerConfig(
    source_vocab=12, target_vocab=12, d_model=8, n_heads=2, d_ff=16, n_layers=2, dropout=0.0
)
SOURCE = torch.tensor([[5, 6, 7, 1]])
TARGETS = torch.tensor([[3, 4, 5, 6, 7, 1]])

close = torch.testing.assert_close


def build(**changes) -> Transformer:
    torch.manual_seed(0)
    return Transformer(replace(CONFIG, **changes)).double().eval()


@pytest.fixture(params=[False, True], ids=["post-LN", "pre-LN"])
def model(request) -> Transformer:
    return build(norm_first=request.param)


def test_D11_no_position_sees_its_own_target_or_a_later_one(model):
    before = model(SOURCE, TARGETS).logits
    for t in range(TARGETS.shape[1]):
        changed = TARGETS.clone()
        changed[:, t:] = 9
        after = model(SOURCE, changed).logits
        close(after[:, : t + 1], before[:, : t + 1], rtol=0, atol=1e-12)
        if t + 1 < TARGETS.shape[1]:
            assert (after[:, t + 1] - before[:, t + 1]).abs().max() > 1e-3  # the change did reach the next


def test_D11_the_gradient_of_an_output_with_respect_to_later_inputs_is_exactly_zero(model):
    inputs = []
    model.target_positions.register_forward_pre_hook(lambda module, args: inputs.append(args[0]))
    logits = model(SOURCE, TARGETS).logits
    for t in range(TARGETS.shape[1]):
        (gradient,) = torch.autograd.grad(logits[0, t].square().sum(), inputs[0], retain_graph=True)
        assert (gradient[0, t + 1 :] == 0).all()
        assert (gradient[0, : t + 1].abs().sum(-1) > 0).all()


def test_D11_the_mask_shows_10_of_16_cells_in_training_and_the_same_in_decoding(model):
    assert causal_mask(4).sum() == 10
    weights = model(SOURCE, TARGETS[:, :4], need_weights=True).weights
    assert all(((layer > 0) == causal_mask(4)).all() for layer in weights.decoder)


def test_D11_the_decoding_steps_compute_what_training_computes(model):
    whole = model(SOURCE, TARGETS, need_weights=True)
    state, logits, weights = model.start(SOURCE), [], []
    for token in shift_right(TARGETS, CONFIG.end_id).unbind(dim=1):
        step = model.step(token, state, need_weights=True)
        state = step.state
        logits.append(step.logits)
        weights.append(step.weights)
    close(torch.stack(logits, dim=1), whole.logits, rtol=0, atol=1e-12)
    cross = torch.stack(whole.weights.cross, dim=1)  # (B, L, H, Tt, Ts)
    close(torch.stack(weights, dim=-2), cross, rtol=0, atol=1e-12)


def test_padding_a_source_or_a_target_changes_nothing(model):
    source = torch.tensor([[5, 6, 7, 1, 0, 0], [8, 9, 10, 11, 3, 1]])
    targets = torch.tensor([[3, 4, 5, 6, 7, 1, 0, 0, 0], [9] * 8 + [1]])
    alone, together = model(SOURCE, TARGETS, True), model(source, targets, True)
    close(together.logits[:1, :6], alone.logits, rtol=0, atol=1e-12)
    for layer in (*together.weights.encoder, *together.weights.cross):
        assert (layer[0, :, :, 4:] == 0).all()


def test_the_embedding_of_padding_reaches_no_word(model):
    source = torch.tensor([[5, 6, 7, 1, 0, 0]])
    before = model(source, TARGETS).logits[..., 1:]
    with torch.no_grad():
        model.source_embedding.weight[0] += 100.0  # which is the output's row 0 as well
    close(model(source, TARGETS).logits[..., 1:], before, rtol=0, atol=0)


def test_the_order_of_the_batch_does_not_matter(model):
    source = torch.tensor([[5, 6, 1, 0, 0], [8, 9, 10, 3, 1], [7, 1, 0, 0, 0]])
    targets = torch.tensor([[3, 1, 0], [4, 5, 1], [6, 7, 1]])
    backwards = model(source.flip(0), targets.flip(0)).logits.flip(0)
    close(model(source, targets).logits, backwards, rtol=0, atol=1e-12)


def test_weights_come_on_request_and_without_them_the_output_is_the_same(model):
    plain, looked_at = model(SOURCE, TARGETS), model(SOURCE, TARGETS, need_weights=True)
    assert plain.weights is None
    close(plain.logits, looked_at.logits, rtol=0, atol=1e-12)
    shapes = [[tuple(layer.shape) for layer in layers] for layers in looked_at.weights]
    assert shapes == [[(1, 2, 4, 4)] * 2, [(1, 2, 6, 6)] * 2, [(1, 2, 6, 4)] * 2]
    for layers in looked_at.weights:
        for layer in layers:
            close(layer.sum(-1), torch.ones_like(layer[..., 0]))


def test_weights_that_nobody_asked_for_are_not_computed(monkeypatch):
    def refuse(*args):
        raise AssertionError("left the fast path")

    monkeypatch.setattr("bertlab.nn.attention.masked_softmax", refuse)
    build()(SOURCE, TARGETS)


def test_the_model_is_its_parts_put_together():
    """Embeddings × √D and positions, encoder, decoder over the shifted target, output (Vaswani et al., 3)."""
    model = build()
    scale, positions = math.sqrt(8), sinusoidal_positions(6, 8, torch.float64)
    x = model.source_embedding.weight[SOURCE] * scale + positions[:4]
    y = model.target_embedding.weight[torch.tensor([[1, 3, 4, 5, 6, 7]])] * scale + positions
    memory, _ = model.encoder(x)
    features, _, _ = model.decoder(y, memory, causal_mask(6))
    close(model(SOURCE, TARGETS).logits, features @ model.output.weight.T, rtol=0, atol=1e-12)


def torchs_own(model: Transformer) -> torch.nn.Transformer:
    """PyTorch's encoder and decoder with the weights of ours."""
    c = model.config
    theirs = torch.nn.Transformer(
        c.d_model, c.n_heads, c.n_layers, c.n_layers, c.d_ff, dropout=0.0,
        norm_first=c.norm_first, batch_first=True, dtype=torch.float64,
    )  # fmt: skip
    theirs.encoder.norm, theirs.decoder.norm = (
        model.encoder.norm,
        model.decoder.norm,
    )  # torch has one in post-LN
    for ours, other in zip((*model.encoder.layers, *model.decoder.layers),
                           (*theirs.encoder.layers, *theirs.decoder.layers), strict=True):  # fmt: skip
        attentions = [(other.self_attn, getattr(ours, "attention", None) or ours.self_attention)]
        residuals = [getattr(ours, "attention_residual", None) or ours.self_attention_residual]
        if hasattr(ours, "cross_attention"):
            attentions.append((other.multihead_attn, ours.cross_attention))
            residuals.append(ours.cross_attention_residual)
        with torch.no_grad():
            for to, of in attentions:
                to.in_proj_weight.copy_(torch.cat([of.query.weight, of.key.weight, of.value.weight]))
                to.in_proj_bias.copy_(torch.cat([of.query.bias, of.key.bias, of.value.bias]))
                to.out_proj.load_state_dict(of.output.state_dict())
        other.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
        other.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
        for i, residual in enumerate([*residuals, ours.feed_forward_residual], start=1):
            getattr(other, f"norm{i}").load_state_dict(residual.norm.state_dict())
    return theirs


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_the_whole_equals_torchs_own_with_the_same_weights(model):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)  # biases and norms too
    source = torch.tensor([[5, 6, 7, 1, 0, 0], [8, 9, 10, 11, 3, 1]])
    targets = torch.tensor([[3, 4, 1, 0], [4, 5, 6, 1]])
    scale, positions = math.sqrt(8), sinusoidal_positions(6, 8, torch.float64)
    x = model.source_embedding.weight[source] * scale + positions
    y = model.target_embedding.weight[shift_right(targets, 1)] * scale + positions[:4]
    hidden = source == 0  # theirs: True = hidden
    features = torchs_own(model).train()(
        x, y, tgt_mask=~causal_mask(4), src_key_padding_mask=hidden, memory_key_padding_mask=hidden
    )
    expected = features @ model.output.weight.T
    close(model(source, targets).logits, expected, rtol=0, atol=1e-10)
    matrix = model.output.weight  # the shared one: its gradient passes through everything
    ours, by_torch = (
        torch.autograd.grad(logits.square().sum(), matrix)[0]
        for logits in (model(source, targets).logits, expected)
    )
    close(ours, by_torch, rtol=0, atol=1e-9)


def test_shared_embeddings_are_one_matrix_and_stay_one_after_loading(tmp_path):
    for share, n in (("all", 1), ("target", 2), ("none", 3)):
        model = build(share_embeddings=share)
        model.load_state_dict(build(share_embeddings=share).state_dict())
        places = (model.source_embedding.weight, model.target_embedding.weight, model.output.weight)
        assert len({id(weight) for weight in places}) == n
        assert (model.output.weight is model.target_embedding.weight) == (share != "none")


def test_what_is_embedded_begins_with_a_variance_of_one():
    model = Transformer(replace(CONFIG, d_model=64, source_vocab=2000, target_vocab=2000))
    seen = []
    model.source_positions.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    model(torch.arange(1, 2000)[None].clamp(max=1999)[:, :500], torch.tensor([[3, 1]]))
    assert seen[0].std().item() == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("share", ["all", "target", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_every_parameter_gets_a_gradient(share, positions):
    model = build(share_embeddings=share, positions=positions, norm_first=True)
    source, targets = torch.tensor([[5, 6, 7, 1, 0], [8, 9, 10, 11, 1]]), torch.tensor([[3, 4, 1], [5, 1, 0]])
    cross_entropy(model(source, targets).logits, targets, ignore_index=0).backward()
    for name, parameter in model.named_parameters():
        silent = name.endswith("key.bias")  # adds the same to all scores of a query, so softmax ignores it
        assert parameter.grad is not None, name
        assert silent or parameter.grad.abs().sum() > 1e-12, name


def test_only_positions_tell_the_order_of_the_source():
    source, mixed = torch.tensor([[5, 6, 7, 8, 1]]), torch.tensor([[8, 5, 7, 6, 1]])
    blind, seeing = build(positions="none"), build()
    close(blind(source, TARGETS).logits, blind(mixed, TARGETS).logits, rtol=0, atol=1e-12)
    assert (seeing(source, TARGETS).logits - seeing(mixed, TARGETS).logits).abs().max() > 1e-3


def test_D06_dropout_stops_in_evaluation():
    model, plain = build(dropout=0.9, attention_dropout=0.9), build()
    assert torch.equal(model(SOURCE, TARGETS).logits, model(SOURCE, TARGETS).logits)
    assert torch.equal(model(SOURCE, TARGETS).logits, plain(SOURCE, TARGETS).logits)
    model.train()
    assert not torch.equal(model(SOURCE, TARGETS).logits, model(SOURCE, TARGETS).logits)


def test_each_of_the_options_changes_something():
    torch.manual_seed(0)
    plain = build(share_embeddings="none")(SOURCE, TARGETS).logits
    for changes in (
        {"activation": "gelu"}, {"norm_first": True}, {"positions": "none"}, {"n_heads": 4}, {"pad_id": 6},
        {"end_id": 7},
    ):  # fmt: skip
        assert not torch.allclose(build(share_embeddings="none", **changes)(SOURCE, TARGETS).logits, plain)
    for dropout in ("dropout", "attention_dropout"):
        assert not torch.allclose(build(**{dropout: 0.5}).train()(SOURCE, TARGETS).logits, plain)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_D08_a_sentence_longer_than_the_table_is_refused_on_both_sides(positions):
    model = build(positions=positions, max_length=8)
    eight, nine = torch.full((1, 8), 5), torch.full((1, 9), 5)
    model(eight, eight)
    for source, targets in ((nine, eight), (eight, nine)):
        with pytest.raises(ValueError, match=r"9.*8|8.*9"):
            model(source, targets)


def test_an_id_outside_of_the_vocabulary_is_named():
    model = build(share_embeddings="none", target_vocab=11)
    with pytest.raises(ValueError, match=r"12.*12 rows"):
        model(torch.tensor([[5, 12]]), TARGETS)
    with pytest.raises(ValueError, match=r"11.*11 rows"):
        model(SOURCE, torch.tensor([[11, 1]]))


def test_the_step_without_a_cache_is_the_last_position_of_the_whole(model):
    slow, whole = WithoutCache(model), model(SOURCE, TARGETS, need_weights=True)
    first = slow.step(torch.tensor([1, 1]), slow.reorder(slow.start(SOURCE), torch.tensor([0, 0])))
    second = slow.step(torch.tensor([3]), slow.reorder(first.state, torch.tensor([1])), need_weights=True)
    assert first.weights is None
    close(first.logits[:1], whole.logits[:, 0], rtol=0, atol=1e-12)
    close(second.logits, whole.logits[:, 1], rtol=0, atol=1e-12)
    close(second.weights, torch.stack(whole.weights.cross, dim=1)[:, :, :, 1], rtol=0, atol=1e-12)
