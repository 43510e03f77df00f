"""Training: the loop, its optimiser, schedules, checkpoints and journal, and the record of an experiment."""

from bertlab.training.glove import train_glove
from bertlab.training.journal import read_journal
from bertlab.training.loop import fit
from bertlab.training.nnlm import train_nnlm
from bertlab.training.optimizer import adamw
from bertlab.training.results import load_result, run_arms, save_result
from bertlab.training.schedule import inverse_square_root, linear_decay, noam
from bertlab.training.word2vec import train_word2vec
from bertlab.training.word_vectors import GloVeConfig, NNLMConfig, TrainedVectors, Word2VecConfig

__all__ = [
    "GloVeConfig",
    "NNLMConfig",
    "TrainedVectors",
    "Word2VecConfig",
    "adamw",
    "fit",
    "inverse_square_root",
    "linear_decay",
    "load_result",
    "noam",
    "read_journal",
    "run_arms",
    "save_result",
    "train_glove",
    "train_nnlm",
    "train_word2vec",
]
