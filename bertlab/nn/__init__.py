"""The PyTorch wing: concepts, file names and signatures of `bertlab.reference`, for training and for use."""

from bertlab.nn.attention import MultiHeadAttention, SelfAttention
from bertlab.nn.decoding import greedy_decode
from bertlab.nn.recurrent import GRU, LSTM
from bertlab.nn.seq2seq import Seq2Seq, Seq2SeqConfig

__all__ = ["GRU", "LSTM", "MultiHeadAttention", "SelfAttention", "Seq2Seq", "Seq2SeqConfig", "greedy_decode"]
