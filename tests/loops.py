"""The specification: every concept once more in plain Python, one number at a time, with nothing vectorised.

Slow, and meant to be seen to be right. Arrays come in, nested lists go out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Vector = Sequence[float]


def softmax(scores: Vector, allowed: Sequence[bool] | None = None) -> list[float]:
    """Shares of the allowed scores; all zero where none is allowed."""
    allowed = [True] * len(scores) if allowed is None else allowed
    total = sum(math.exp(s) for s, ok in zip(scores, allowed, strict=True) if ok)
    return [math.exp(s) / total if ok else 0.0 for s, ok in zip(scores, allowed, strict=True)]


def dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def matrix_vector(matrix: Sequence[Vector], vector: Vector) -> list[float]:
    return [dot(row, vector) for row in matrix]


def mix(weights: Vector, values: Sequence[Vector]) -> list[float]:
    """Sum of the values, each times its weight."""
    return [
        sum(w * value[k] for w, value in zip(weights, values, strict=True)) for k in range(len(values[0]))
    ]


def attention(q: Any, k: Any, v: Any, mask: Any = None) -> tuple[list[list[float]], list[list[float]]]:
    """One head: (Tq, K), (Tk, K), (Tk, Kv) and a (Tq, Tk) mask to the output and the weights."""
    weights = []
    for i, query in enumerate(q):
        scores = [dot(query, key) / math.sqrt(len(query)) for key in k]
        weights.append(softmax(scores, None if mask is None else mask[i]))
    return [mix(row, v) for row in weights], weights


def additive_score(query: Vector, key: Vector, w_query: Any, w_key: Any, v: Vector) -> float:
    hidden = zip(matrix_vector(w_query, query), matrix_vector(w_key, key), strict=True)
    return dot(v, [math.tanh(a + b) for a, b in hidden])


def layer_norm(x: Vector, gain: Vector, bias: Vector, eps: float) -> list[float]:
    mean = sum(x) / len(x)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in x) / len(x) + eps)
    return [g * (value - mean) / deviation + b for value, g, b in zip(x, gain, bias, strict=True)]


def cross_entropy(
    logits: Sequence[Vector], targets: Sequence[int], ignore_index: int = -100, smoothing: float = 0.0
) -> float:
    losses = []
    for row, target in zip(logits, targets, strict=True):
        if target != ignore_index:
            log_p = [math.log(p) for p in softmax(row)]
            losses.append(-(1 - smoothing) * log_p[target] - smoothing / len(row) * sum(log_p))
    return sum(losses) / len(losses) if losses else 0.0


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def gru_cell(x: Vector, h: Vector, w_input: Any, w_hidden: Any, b_input: Any, b_hidden: Any) -> list[float]:
    """Cho et al. 2014, eq. (5) to (8), unit by unit, with the reset gate where torch has it."""
    D = len(h)

    def from_input(row: int) -> float:
        return dot(w_input[row], x) + b_input[row]

    def from_state(row: int) -> float:
        return dot(w_hidden[row], h) + b_hidden[row]

    new = []
    for j in range(D):  # rows: reset gates, then update gates, then candidates
        reset = sigmoid(from_input(j) + from_state(j))
        update = sigmoid(from_input(D + j) + from_state(D + j))
        candidate = math.tanh(from_input(2 * D + j) + reset * from_state(2 * D + j))
        new.append(update * h[j] + (1 - update) * candidate)
    return new


def lstm_cell(
    x: Vector,
    h: Vector,
    c: Vector,
    w_input: Any,
    w_hidden: Any,
    b_input: Any,
    b_hidden: Any,
    w_project: Any = None,
) -> tuple[list[float], list[float]]:
    """Unit by unit; rows: input gates, forget gates, candidates, output gates."""
    D = len(c)

    def gate(row: int) -> float:
        return dot(w_input[row], x) + b_input[row] + dot(w_hidden[row], h) + b_hidden[row]

    memory = [sigmoid(gate(D + j)) * c[j] + sigmoid(gate(j)) * math.tanh(gate(2 * D + j)) for j in range(D)]
    out = [sigmoid(gate(3 * D + j)) * math.tanh(memory[j]) for j in range(D)]
    return out if w_project is None else matrix_vector(w_project, out), memory


def relu(x: float) -> float:
    return x if x > 0 else 0.0


def gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def gelu_tanh(x: float) -> float:
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def linear(x: Vector, weight: Any, bias: Vector) -> list[float]:
    return [y + b for y, b in zip(matrix_vector(weight, x), bias, strict=True)]


def feed_forward(x: Vector, params: Any, activation: str) -> list[float]:
    activate = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh}[activation]
    inner = [activate(y) for y in linear(x, params["inner.weight"], params["inner.bias"])]
    return linear(inner, params["outer.weight"], params["outer.bias"])


def multi_head_attention(queries: Any, keys: Any, params: Any, n_heads: int, mask: Any) -> list[list[float]]:
    """One sentence: (Tq, D) and (Tk, D) vectors and a (H, Tq, Tk) mask to (Tq, D)."""

    def project(part: str, rows: Any) -> list[list[float]]:
        return [linear(row, params[f"{part}.weight"], params[f"{part}.bias"]) for row in rows]

    q, k, v = project("query", queries), project("key", keys), project("value", keys)
    K = len(q[0]) // n_heads
    joined: list[list[float]] = [[] for _ in q]
    for h in range(n_heads):
        its = slice(h * K, (h + 1) * K)
        mixed, _ = attention([x[its] for x in q], [x[its] for x in k], [x[its] for x in v], mask[h])
        for row, found in zip(joined, mixed, strict=True):
            row.extend(found)
    return project("output", joined)


def with_residual(x: Any, sublayer: Any, norm: Any, norm_first: bool, eps: float) -> list[list[float]]:
    """``norm(x + sublayer(x))``, or ``x + sublayer(norm(x))``; `sublayer` maps (T, D) vectors to (T, D)."""

    def normed(rows: Any) -> list[list[float]]:
        return [layer_norm(row, norm["norm.weight"], norm["norm.bias"], eps) for row in rows]

    update = sublayer(normed(x) if norm_first else x)
    total = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(x, update, strict=True)]
    return total if norm_first else normed(total)
