"""Trained weights in and out, in the ecosystem's own format: safetensors and JSON, never pickle."""

from bertlab.interop.bert import BertCheckpoint, load_bert, read_bert
from bertlab.interop.bert_saving import save_bert, write_checkpoint
from bertlab.interop.elmo import load_elmo, save_elmo
from bertlab.interop.gpt import load_gpt, save_gpt
from bertlab.interop.transformer import load_transformer, save_transformer
from bertlab.interop.word_vectors import load_vectors

__all__ = [
    "BertCheckpoint",
    "load_bert",
    "load_elmo",
    "load_gpt",
    "load_transformer",
    "load_vectors",
    "read_bert",
    "save_bert",
    "save_elmo",
    "save_gpt",
    "save_transformer",
    "write_checkpoint",
]
