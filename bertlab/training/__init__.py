"""Training: the loop, its optimiser, schedules, checkpoints and journal, and the record of an experiment."""

from bertlab.training.journal import read_journal
from bertlab.training.loop import fit
from bertlab.training.optimizer import adamw
from bertlab.training.results import load_result, run_arms, save_result
from bertlab.training.schedule import inverse_square_root, linear_decay, noam

__all__ = [
    "adamw",
    "fit",
    "inverse_square_root",
    "linear_decay",
    "load_result",
    "noam",
    "read_journal",
    "run_arms",
    "save_result",
]
