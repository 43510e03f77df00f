"""The commands `finetune` and `predict`: from data to a model, and from a model to answers."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bertlab.interop import load_bert
from bertlab.nn.bert import BertModel
from bertlab.tasks.classification import Example, class_names, example_inputs, read_table
from bertlab.tasks.entities import load_entities, read_conll, word_inputs
from bertlab.tasks.finetune import FineTuning, fine_tune
from bertlab.tasks.heads import BertForClassification, BertForSpans, BertForTokens, Head
from bertlab.tasks.labelled_texts import load_labelled
from bertlab.tasks.question_answering import windowed
from bertlab.tasks.saving import load_tuned, save_tuned
from bertlab.tasks.squad import Question, read_squad, read_xquad, split_by_article
from bertlab.tasks.task import Answers, Classification, Entities, Part, Task
from bertlab.text.wordpiece import WordPiece
from bertlab.training.memory import keep_freed_memory
from bertlab.training.run_folder import MODEL

Parts = dict[Part, list[Any]]
Made = tuple[Task[Any], Callable[[BertModel], Head], tuple[str, ...]]  # task, head for an encoder, labels


def finetune(chosen: argparse.Namespace, device: torch.device) -> str:
    """Fine-tune as the arguments of `python -m bertlab finetune` say; return what is to be told."""
    keep_freed_memory()
    bert, tokenizer = load_bert(chosen.model, BertModel)
    if chosen.max_length > bert.config.max_positions:
        raise ValueError(
            f"--max-length {chosen.max_length} is beyond the {bert.config.max_positions} positions of "
            f"{chosen.model}: choose less"
        )
    parts = _parts(chosen)
    task, head, labels = TASKS[chosen.task](parts, tokenizer, chosen.max_length)
    settings = FineTuning(
        **{name: getattr(chosen, name) for name in ("epochs", "batch_size", "rate", "layer_decay")},
        frozen=chosen.frozen,
        bf16=chosen.bf16,
        seed=chosen.seed,
    )
    told = []
    if n := _n_cut(task):
        told.append(
            f"{n:,} of {len(task):,} inputs to train on have more than {chosen.max_length} pieces: cut"
        )
    torch.manual_seed(settings.seed)  # of the head's new weights
    model = head(bert).to(device)
    folder = Path(chosen.out)
    tuned = fine_tune(model, task, settings, folder, start=chosen.model)
    save_tuned(model, tokenizer, folder / MODEL, labels, overwrite=True)
    told.append(f"best epoch {tuned.epoch} of {settings.epochs}, on val: {_shown(tuned.scores)}")
    if "test" in parts:
        told.append(f"on test: {_shown(task.scores(model, 'test'))}")
    return "\n".join([*told, f"the model is in {folder / MODEL}"])


def _n_cut(task: Task[Any]) -> int:
    """Count the inputs to train on that lost their end; passages are read in windows and lose nothing."""
    if isinstance(task, Classification):
        return sum(one.cut > 0 for one in task.inputs["train"])
    return sum(one.inputs.cut > 0 for one in task.words["train"]) if isinstance(task, Entities) else 0


def _shown(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {100 * value:.1f} %" for name, value in scores.items())


def _parts(chosen: argparse.Namespace) -> Parts:
    """Read the data of a task by its parts."""
    if bool(chosen.data) == bool(chosen.train) or bool(chosen.train) != bool(chosen.val):
        raise ValueError("give --data NAME for public data, or --train FILE and --val FILE for your own")
    if chosen.data:
        return PUBLIC[chosen.task](chosen.data)
    read: dict[Part, str] = {"train": chosen.train, "val": chosen.val}
    return {part: _read(chosen.task, file, chosen.columns, chosen.label) for part, file in read.items()}


def _read(task: str, file: str, columns: Sequence[str], label: str | None) -> list[Any]:
    """Read a file of a task; without a label column, nobody needs the labels."""
    if not Path(file).is_file():
        raise ValueError(f"{file} is no file: name one that is there")
    if task == "entities":
        return [sentence for document in read_conll(file) for sentence in document]
    if task == "answers":
        return read_squad(file)
    if len(columns) > 2:
        raise ValueError(f"{len(columns)} columns {' '.join(columns)}: name one text, or two")
    return read_table(file, columns[0], columns[1] if len(columns) == 2 else None, label)


def _lines(file: str) -> list[str]:
    if not Path(file).is_file():
        raise ValueError(f"{file} is no file: name one that is there")
    return Path(file).read_text(encoding="utf-8").splitlines()


def _asked(name: str) -> Parts:
    if name != "xquad":
        raise ValueError(f"{name!r} is no data set of questions: choose 'xquad', or give --train and --val")
    found = split_by_article(read_xquad(), (0.7, 0.1, 0.2), np.random.default_rng(0))
    return dict(zip(("train", "val", "test"), found, strict=True))


def _by_part(texts: Any) -> Parts:
    """Give what `load_labelled` and `load_entities` found by its parts."""
    return {"train": texts.train, "val": texts.val, "test": texts.test}


PUBLIC: dict[str, Callable[[str], Parts]] = {
    "classify": lambda name: _by_part(load_labelled(name)),
    "entities": lambda name: _by_part(load_entities(name)),
    "answers": _asked,
}


def _classify(parts: Parts, tokenizer: WordPiece, max_length: int) -> Made:
    labels = class_names(parts["train"])
    task = Classification(parts, labels, tokenizer, max_length)
    return task, lambda bert: BertForClassification(bert, len(labels)), labels


def _entities(parts: Parts, tokenizer: WordPiece, max_length: int) -> Made:
    kinds = {label for some in parts.values() for one in some for label in one.labels}
    labels = ("O", *sorted(kinds - {"O"}))
    task = Entities(parts, labels, tokenizer, max_length)
    return task, lambda bert: BertForTokens(bert, len(labels)), labels


def _answers(parts: Parts, tokenizer: WordPiece, max_length: int) -> Made:
    task = Answers(parts, tokenizer, max_length, step=max_length // 2)
    return task, BertForSpans, ()


TASKS: dict[str, Callable[[Parts, WordPiece, int], Made]] = {
    "classify": _classify,
    "entities": _entities,
    "answers": _answers,
}


def predict(chosen: argparse.Namespace, device: torch.device) -> Iterator[str]:
    """Answer what the arguments of `predict` ask: in each line an answer, a tab, what it is the answer to."""
    if bool(chosen.data) == bool(chosen.text):
        raise ValueError("give --data FILE, or one --text TEXT")
    model, tokenizer, labels = load_tuned(chosen.model)
    model.to(device)
    most = model.bert.config.max_positions  # what is longer is refused
    if isinstance(model, BertForSpans):
        yield from _predict_spans(model, tokenizer, chosen, most)
    elif isinstance(model, BertForTokens):
        lines = [chosen.text] if chosen.text else _lines(chosen.data)
        texts = [line.split() for line in lines if line.strip()]
        task = Entities({}, labels, tokenizer, most)
        found = [word_inputs(words, tokenizer, most) for words in texts]
        for words, said in zip(texts, task.predict(model, found), strict=True):
            yield from (f"{label}\t{word}" for word, label in zip(words, said, strict=True))
            yield ""
    else:
        one = [Example(chosen.text or "", chosen.pair)]
        examples = one if chosen.text else _read("classify", chosen.data, chosen.columns, None)
        task_of_texts = Classification({}, labels, tokenizer, most)
        inputs = example_inputs(examples, tokenizer, most)
        for example, said in zip(examples, task_of_texts.predict(model, inputs), strict=True):
            yield "\t".join(filter(None, (labels[int(said)], example.text, example.text_b)))


def _predict_spans(
    model: BertForSpans, tokenizer: WordPiece, chosen: argparse.Namespace, most: int
) -> Iterator[str]:
    if chosen.text and not chosen.pair:
        raise ValueError("a model of spans answers questions: give the passage as --text and --pair QUESTION")
    one = [Question("asked", chosen.pair or "", chosen.text or "")]
    questions = one if chosen.text else _read("answers", chosen.data, [], None)
    task = Answers({}, tokenizer, most, step=most // 2)
    said = task.predict(model, windowed(questions, tokenizer, most, most // 2))
    yield from (f"{said[question.id]}\t{question.text}" for question in questions)
