"""One training step of BERT, ours and that of `transformers`: the same weights, the same batch."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bertlab.nn import BertConfig, BertForPreTraining
from bertlab.nn.packing import Packing
from bertlab.training.bfloat16 import InBfloat16, bfloat16_is_fast
from bertlab.training.pretrain import Objective

MASKED = 0.15
LOSS = {"float32": 1e-5, "bfloat16": 2e-3}  # how near ours must be to theirs in float32, in nats
GRADIENT = {"float32": 1e-4, "bfloat16": 2e-2}  # norm of the difference of all gradients, by their norm
MODES = ("float32", "bfloat16")


@dataclass(frozen=True)
class Case:
    """What is trained on what."""

    size: str  # a constructor of BertConfig
    vocab_size: int
    batch: int  # B
    length: int  # T
    shortest: int | None = None  # lengths are uniform from here to T; None: all are T
    dropouts: tuple[float, ...] = (0.0,)
    device: str = "cpu"

    def config(self, dropout: float) -> BertConfig:
        """Sizes and choices of the model."""
        make = getattr(BertConfig, self.size)
        config: BertConfig = make(
            vocab_size=self.vocab_size,
            dropout=dropout,
            attention_dropout=dropout,
            max_positions=max(512, self.length),
        )
        return config


class Batch:
    """Random pieces with some hidden, as ours and theirs want to have them.

    Parameters
    ----------
    case : sizes.
    """

    def __init__(self, case: Case) -> None:
        rng, shape = np.random.default_rng(0), (case.batch, case.length)
        self.lengths = rng.integers(case.shortest or case.length, case.length + 1, case.batch)
        real = np.arange(case.length) < self.lengths[:, None]
        hidden = np.sort(rng.permutation(real.ravel().nonzero()[0])[: round(MASKED * real.sum())])
        self.packs = case.shortest is not None
        arrays = {
            "real": real,
            "ids": rng.integers(5, case.vocab_size, shape) * real,
            "segments": (np.arange(case.length) >= self.lengths[:, None] // 2) * real,
            "positions": hidden,
            "labels": rng.integers(5, case.vocab_size, len(hidden)),
            "next_labels": rng.integers(0, 2, case.batch),
        }
        at = {name: torch.from_numpy(array).to(case.device) for name, array in arrays.items()}
        self.real, self.ids, self.segments = at["real"], at["ids"], at["segments"].long()
        self.positions, self.labels, self.next_labels = at["positions"], at["labels"], at["next_labels"]
        everywhere = torch.full((self.ids.numel(),), -100, device=case.device)
        self.labels_everywhere = everywhere.index_copy(0, self.positions, self.labels).view(shape)

    def useful_flops(self, config: BertConfig) -> float:
        """Count what a step must multiply and add: real tokens, and the vocabulary at hidden pieces only."""
        D, F, L = config.d_model, config.d_ff, config.n_layers
        of_tokens = L * (4 * D * D + 2 * D * F) * self.lengths.sum()
        of_attention = L * 2 * D * (self.lengths**2).sum()
        of_heads = (D * config.vocab_size + D * D) * len(self.labels) + (D * D + 2 * D) * len(self.lengths)
        return 3.0 * 2 * float(of_tokens + of_attention + of_heads)  # the backward pass does twice the work


def their_model(config: BertConfig) -> nn.Module:
    """BERT of `transformers`, as it comes."""
    from transformers import BertConfig as TheirConfig
    from transformers import BertForPreTraining as Theirs

    return Theirs(
        TheirConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.d_model,
            num_hidden_layers=config.n_layers,
            num_attention_heads=config.n_heads,
            intermediate_size=config.d_ff,
            max_position_embeddings=config.max_positions,
            hidden_dropout_prob=config.dropout,
            attention_probs_dropout_prob=config.attention_dropout,
            attn_implementation="sdpa",
        )
    )


class Peers:
    """Both models with optimisers, and a step of each in both modes.

    Parameters
    ----------
    case : sizes.
    dropout : the same on both sides.
    only : "ours" or "theirs", to build that alone.
    """

    def __init__(self, case: Case, dropout: float = 0.0, only: str | None = None) -> None:
        torch.manual_seed(0)
        self.case, self.batch, self.dropout = case, Batch(case), dropout
        config = case.config(dropout)
        self.flops, self.tokens = self.batch.useful_flops(config), int(self.batch.lengths.sum())
        self.steps: dict[str, Callable[[], Tensor]] = {}
        if only != "theirs":
            self.ours = BertForPreTraining(config).to(case.device)
            objective = Objective(self.ours)
            self._add("ours", self.ours, {"float32": objective, "bfloat16": InBfloat16(objective)})
        if only != "ours":
            self.theirs = their_model(config).to(case.device)
            self._add("theirs", self.theirs, dict.fromkeys(MODES, self.theirs))
        if only is None:
            self._same_weights()

    def _add(self, side: str, model: nn.Module, modes: dict[str, nn.Module]) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
        for mode, callee in modes.items():
            self.steps[f"{side} {mode}"] = self._step(side, mode, model, callee, optimizer)

    def _step(
        self, side: str, mode: str, model: nn.Module, callee: nn.Module, optimizer: Any
    ) -> Callable[[], Tensor]:
        def step() -> Tensor:
            optimizer.zero_grad()
            loss = self.loss(side, mode, callee)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    def loss(self, side: str, mode: str, callee: nn.Module) -> Tensor:
        """Compute the joint loss as users of either would."""
        b = self.batch
        if side == "ours":
            packing = Packing.where_it_pays(b.real) if b.packs else None
            masked_lm, next_sentence = callee(
                b.ids, b.segments, b.positions, b.labels, b.next_labels, packing
            )
            return masked_lm + next_sentence
        with torch.autocast(self.case.device, torch.bfloat16, enabled=mode == "bfloat16"):
            joint: Tensor = callee(
                input_ids=b.ids,
                attention_mask=b.real.long(),
                token_type_ids=b.segments,
                labels=b.labels_everywhere,
                next_sentence_label=b.next_labels,
            ).loss
        return joint

    def _same_weights(self) -> None:
        from bertlab.interop.bert_names import theirs

        weights = dict(self.theirs.named_parameters())
        with torch.no_grad():
            for ours, weight in self.ours.named_parameters():
                name = theirs(ours)
                weights[name if name in weights else f"bert.{name}"].copy_(weight)

    def differences(self) -> dict[str, dict[str, float]]:
        """Hold losses and gradients of ours in both modes against theirs in float32, dropout off.

        Raises
        ------
        AssertionError
            If they differ by more than `LOSS` and `GRADIENT` allow.
        """
        from bertlab.interop.bert_names import theirs

        self.ours.eval(), self.theirs.eval()
        expected = self.loss("theirs", "float32", self.theirs)
        expected.backward()
        gradients = {name.removeprefix("bert."): p.grad for name, p in self.theirs.named_parameters()}
        norm = torch.cat([gradient.flatten() for gradient in gradients.values()]).norm()
        found = {}
        for mode, callee in (
            ("float32", Objective(self.ours)),
            ("bfloat16", InBfloat16(Objective(self.ours))),
        ):
            self.ours.zero_grad()
            loss = self.loss("ours", mode, callee)
            loss.backward()
            apart = [p.grad - gradients[theirs(name)] for name, p in self.ours.named_parameters()]
            of_gradients = float(torch.cat([gradient.flatten() for gradient in apart]).norm() / norm)
            of_loss = float((loss - expected).detach().abs())
            found[mode] = {"loss": of_loss, "gradients": of_gradients}
            assert of_loss <= LOSS[mode], f"{mode}: loss {loss.item()}, theirs {expected.item()}"
            assert of_gradients <= GRADIENT[mode], f"{mode}: gradients differ by {of_gradients} of their norm"
        self.ours.zero_grad(), self.theirs.zero_grad()
        self.ours.train(), self.theirs.train()
        return found


def seconds(run: Callable[[], Any], device: str) -> float:
    """Time one call; on a GPU, until its work is done."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    wait()
    start = time.perf_counter()
    run()
    wait()
    return time.perf_counter() - start


def matmul_flops(mode: str, device: str) -> float:
    """Measure the rate of large matrix products, the speed limit, in FLOP a second."""
    imitated = mode == "bfloat16" and not bfloat16_is_fast(torch.device(device))  # a minute each at full size
    n = 8192 if device == "cuda" else 512 if imitated else 2048
    a, b = torch.randn(2, n, n, device=device, dtype=getattr(torch, mode))
    return 2 * n**3 / min(seconds(lambda: a @ b, device) for _ in range(3))


def peak_mebibytes(case: Case, name: str) -> float:
    """Take three steps in this process and tell the most memory that it ever had."""
    peers = Peers(replace(case, dropouts=(0.0,)), only=name.split()[0])
    for _ in range(3):
        peers.steps[name]()
    if case.device == "cuda":
        return torch.cuda.max_memory_allocated() / 2**20
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
