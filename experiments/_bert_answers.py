"""How a BERT, and a left-to-right model with its layers, answer the questions of `_bert_held_out`."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

from _bert_corpus import held_out_documents
from _bert_held_out import INPUTS, KINDS, LENGTH, Answers, Exam, Question, Scores, exam, masked_words
from _bert_vocabulary import tokenizer
from bertlab.nn import BertForPreTraining
from bertlab.nn.bert_heads import at
from bertlab.nn.masking import causal_mask, padding_mask
from bertlab.text import tokenise


@cache
def questions(
    name: str, kind: str, n: int = INPUTS, max_length: int = LENGTH, vocabulary: str = "trained"
) -> Exam:
    """Set an exam of n pairs of a held-out set, in a vocabulary of `_bert_vocabulary`; see `exam`."""
    vocab = tokenizer(vocabulary)
    return exam(tokenise(held_out_documents()[name], vocab), vocab, KINDS[kind], n, max_length)


def measure(model: BertForPreTraining, questions: Exam, left_to_right: bool = False) -> dict[str, Any]:
    """Ask for the hidden pieces of an exam.

    A left-to-right model is asked for the same pieces. It reads all that stands to their left, with nothing
    hidden there, and nothing to their right.
    """
    if left_to_right:
        questions = [(shown(question, answers), answers) for question, answers in questions]
    return masked_words(questions, from_the_left(model) if left_to_right else fill(model))


def shown(question: Question, answers: Answers) -> Question:
    """Put the answers back where they were hidden."""
    ids = question.ids.copy()
    ids.reshape(-1)[question.positions] = answers.pieces
    return question._replace(ids=ids)


def fill(model: BertForPreTraining) -> Scores:
    """Let a BERT score the vocabulary at the hidden positions."""

    @torch.no_grad()
    def scores(question: Question) -> Tensor:
        ids, segments, positions = tensors(question)
        logits: Tensor = model(ids, segments, positions=positions).logits
        return logits

    return scores


def from_the_left(model: BertForPreTraining) -> Scores:
    """Let a left-to-right model score the vocabulary at the hidden positions."""

    @torch.no_grad()
    def scores(question: Question) -> Tensor:
        ids, segments, positions = tensors(question)
        states = model.bert(ids, segments, left_only(ids, model)).states
        logits: Tensor = model.masked_lm(at(states, positions - 1), model.bert.embeddings.token.weight)
        return logits

    return scores


def judge(model: BertForPreTraining) -> Scores:
    """Let a BERT judge pairs."""

    @torch.no_grad()
    def scores(question: Question) -> Tensor:
        ids, segments, _ = tensors(question)
        no_word = torch.zeros(0, dtype=torch.int64)
        logits: Tensor = model(ids, segments, positions=no_word).next_logits
        return logits

    return scores


def tensors(question: Question) -> tuple[Tensor, Tensor, Tensor]:
    """What a model reads, as tensors: ids, segments, positions."""
    ids, segments, _, positions = (torch.from_numpy(array) for array in question)
    return ids, segments, positions


def left_only(ids: Tensor, model: BertForPreTraining) -> Tensor:
    """Let each position see itself and what stands to its left: (B, 1, T, T) bool."""
    return padding_mask(ids, model.config.pad_id) & causal_mask(ids.shape[1])
