"""Training: the loop, its schedules, checkpoints, and the record of an experiment."""

from bertlab.training.loop import fit
from bertlab.training.results import load_result, run_arms, save_result
from bertlab.training.schedule import linear_decay

__all__ = ["fit", "linear_decay", "load_result", "run_arms", "save_result"]
