"""From raw text to tensors of ids."""

from bertlab.text.byte_pair import BytePair
from bertlab.text.corpus import Corpus, tokenise
from bertlab.text.inputs import Batch, Inputs, Marks, join_texts, pad_batch, pair_inputs
from bertlab.text.masked_lm import IGNORE_INDEX, Masker, mask_tokens
from bertlab.text.next_sentence import IS_NEXT, NOT_NEXT, Pairs, sentence_pairs
from bertlab.text.pretraining_examples import PretrainingBatch, PretrainingExamples
from bertlab.text.shards import ShardsError, open_shards, write_shards
from bertlab.text.vectors import AnalogyScore, Vectors
from bertlab.text.vocabulary import Vocabulary, pad
from bertlab.text.word_corpus import WordCorpus, split_words
from bertlab.text.wordpiece import SPECIAL, Encoding, WordPiece
from bertlab.text.wordpiece_training import train_wordpiece

__all__ = [
    "IGNORE_INDEX",
    "IS_NEXT",
    "NOT_NEXT",
    "SPECIAL",
    "AnalogyScore",
    "Batch",
    "BytePair",
    "Corpus",
    "Encoding",
    "Inputs",
    "Marks",
    "Masker",
    "Pairs",
    "PretrainingBatch",
    "PretrainingExamples",
    "ShardsError",
    "Vectors",
    "Vocabulary",
    "WordCorpus",
    "WordPiece",
    "join_texts",
    "mask_tokens",
    "open_shards",
    "pad",
    "pad_batch",
    "pair_inputs",
    "sentence_pairs",
    "split_words",
    "tokenise",
    "train_wordpiece",
    "write_shards",
]
