"""Texts as the mean of what their pieces became, and a logistic regression on it: fair to a frozen trunk.

A head on [CLS] reads through a pooler, which next-sentence prediction trained if anything did.
all-MiniLM-L6-v2 was trained for the mean of its pieces, [CLS] and [SEP] among them (its model card), and its
pooler has met no loss since. Who asks what a frozen trunk knows must ask there, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from _fine_tuned import BF16
from bertlab.nn import BertModel
from bertlab.tasks.reading import ReadOnce
from bertlab.tasks.task import Part
from bertlab.text.inputs import Inputs, pad_batch

STRENGTHS = (0.001, 0.01, 0.1, 1.0)  # inverse penalties of the logistic regression, chosen by val
BATCH = 64
Floats = NDArray[np.float32]


@torch.no_grad()
def mean_states(bert: BertModel, inputs: Sequence[Inputs], kept: dict[bytes, Tensor] | None = None) -> Floats:
    """Read N inputs once, in bfloat16 where that is fast, and without dropout.

    Parameters
    ----------
    bert : what reads; it is left in evaluation mode.
    inputs : texts, or pairs as one input each.
    kept : what [CLS] became is put there, as `ReadOnce` with `first_only` keeps it: a head on it need not
        read again.

    Returns
    -------
    (N, D): the mean of the last layer's states over all pieces of an input.
    """
    once, order = ReadOnce(bert, bf16=BF16), sorted(range(len(inputs)), key=lambda i: len(inputs[i].ids))
    means = np.empty((len(inputs), bert.config.d_model), np.float32)
    for first in range(0, len(order), BATCH):  # those of like length together
        rows = order[first : first + BATCH]
        batch = pad_batch([inputs[i] for i in rows], bert.config.pad_id)
        states = once(torch.from_numpy(batch.ids), torch.from_numpy(batch.segments)).states  # (B, T, D)
        real = torch.from_numpy(batch.mask)[..., None]
        means[rows] = (states * real).sum(1) / real.sum(1)
        if kept is not None:
            kept.update({key: said[:1].clone() for key, said in once.kept.items()})
        once.kept.clear()  # all states of all texts are too many to hold
    return means


def regression(
    x: Mapping[Part, Floats], y: Mapping[Part, NDArray[np.int64]]
) -> tuple[NDArray[np.int64], float]:
    """Fit a logistic regression to train, its penalty chosen by val.

    Returns
    -------
    the classes of test, and the inverse penalty; of those equally good on val, the strongest penalty.
    """
    models = [
        make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=2000)).fit(
            x["train"], y["train"]
        )
        for strength in STRENGTHS
    ]
    on_val = [model.score(x["val"], y["val"]) for model in models]
    best = int(np.argmax(on_val))
    return np.asarray(models[best].predict(x["test"])), STRENGTHS[best]
