"""`finetune` and `predict` on files of one's own: a model that learnt, its answers, and clear refusals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from bertlab.__main__ import main
from bertlab.interop import save_bert
from bertlab.nn import BertConfig, BertModel
from tests.interop.small_bert import tokenizer

SHORT = ("--max-length", "16")


@pytest.fixture(scope="module")
def trunk(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("trunk")
    sizes = {"d_model": 32, "n_layers": 2, "n_heads": 2, "d_ff": 64, "max_positions": 24}
    torch.manual_seed(0)
    save_bert(
        BertModel(BertConfig(vocab_size=100, dropout=0.0, attention_dropout=0.0, **sizes)),
        tokenizer(),
        folder,
    )
    return str(folder)


@pytest.fixture
def table(tmp_path) -> dict[str, Path]:
    told = ("the dog a\tdogs", "the creme a\tfood")
    rows = ["text\tlabel", *(told[i % 2] for i in range(64))]
    files = {part: tmp_path / f"{part}.tsv" for part in ("train", "val")}
    for file in files.values():
        file.write_text("\n".join(rows) + "\n")
    return files


def tuned(trunk: str, task: str, train: Path, val: Path, out: Path, *more: str) -> int:
    given = ["--train", str(train), "--val", str(val), "--out", str(out), *SHORT]
    return main(["finetune", task, "--model", trunk, *given, "--epochs", "12", "--rate", "3e-3", *more])


def test_texts_are_learnt_and_predicted(trunk, table, tmp_path, capsys):
    assert tuned(trunk, "classify", table["train"], table["val"], tmp_path / "run", "--batch-size", "8") == 0
    told = capsys.readouterr().out
    assert "accuracy 100.0 %" in told
    model = str(tmp_path / "run" / "model")
    assert model in told
    assert main(["predict", model, "--text", "the dog a"]) == 0
    assert capsys.readouterr().out == "dogs\tthe dog a\n"
    (tmp_path / "asked.csv").write_text("text\nthe creme a\nthe dog a\n")
    assert main(["predict", model, "--data", str(tmp_path / "asked.csv")]) == 0
    assert capsys.readouterr().out == "food\tthe creme a\ndogs\tthe dog a\n"


def test_a_folder_goes_on_with_no_other_model(trunk, table, tmp_path, capsys):
    files, out = (table["train"], table["val"]), tmp_path / "run"
    assert tuned(trunk, "classify", *files, out, "--batch-size", "8") == 0
    other = tmp_path / "other"
    shutil.copytree(trunk, other)
    assert tuned(str(other), "classify", *files, out, "--batch-size", "8") == 2
    assert "holds a run with start = " in capsys.readouterr().err
    assert tuned(trunk, "classify", *files, out, "--batch-size", "8") == 0, "the same again is done at once"


def test_what_is_too_long_is_told_in_training_and_refused_in_prediction(trunk, tmp_path, capsys):
    long = "the dog " * 12
    rows = ["text\tlabel", *(f"{long if i < 4 else 'the dog'}\t{'ab'[i % 2]}" for i in range(32))]
    file = tmp_path / "long.tsv"
    file.write_text("\n".join(rows) + "\n")
    assert tuned(trunk, "classify", file, file, tmp_path / "run", "--batch-size", "8") == 0
    assert "4 of 32 inputs to train on have more than 16 pieces: cut" in capsys.readouterr().out
    assert main(["predict", str(tmp_path / "run" / "model"), "--text", long]) == 2
    assert "24 + 0 pieces do not fit into max_length=24" in capsys.readouterr().err


def test_names_are_learnt_and_predicted(trunk, tmp_path, capsys):
    lines = "the O\ndog B-PET\n! O\n\ncreme O\na O\n\n" * 32
    (tmp_path / "names.conll").write_text(lines)
    files = tmp_path / "names.conll", tmp_path / "names.conll"
    assert tuned(trunk, "entities", *files, tmp_path / "run", "--batch-size", "8") == 0
    assert "f1 100.0 %" in capsys.readouterr().out
    assert main(["predict", str(tmp_path / "run" / "model"), "--text", "a dog !"]) == 0
    assert capsys.readouterr().out == "O\ta\nB-PET\tdog\nO\t!\n\n"


def test_answers_are_learnt_and_predicted(trunk, tmp_path, capsys):
    paragraphs = []
    for i in range(48):
        passage = "the " * (i % 4) + "dogs" + " a" * (3 - i % 4)
        answer = {"text": "dogs", "answer_start": 4 * (i % 4)}
        paragraphs.append(
            {"context": passage, "qas": [{"id": f"{i}", "question": "play?", "answers": [answer]}]}
        )
    file = tmp_path / "squad.json"
    file.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))
    assert tuned(trunk, "answers", file, file, tmp_path / "run", "--batch-size", "8") == 0
    assert "exact" in capsys.readouterr().out
    model = str(tmp_path / "run" / "model")
    assert main(["predict", model, "--text", "the dogs a", "--pair", "play?"]) == 0
    assert capsys.readouterr().out == "dogs\tplay?\n"
    assert main(["predict", model, "--text", "the dogs a"]) == 2
    assert "give the passage as --text and --pair QUESTION" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--data", "sst2"], "give --data NAME for public data, or --train FILE and --val FILE"),
        (["--max-length", "1000"], "--max-length 1000 is beyond the"),
        (["--label", "mood"], "no column 'mood'"),
        (["--columns", "text", "label", "text"], "3 columns text label text: name one text, or two"),
        (["--epochs", "0"], "epochs=0: choose 1 or more"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(trunk, table, tmp_path, capsys, more, said):
    assert tuned(trunk, "classify", table["train"], table["val"], tmp_path / "run", *more) == 2
    told = capsys.readouterr().err
    assert told.startswith("bertlab: ")
    assert said in told
    assert told.count("\n") == 1


def test_files_and_data_that_are_not_there_are_named(trunk, tmp_path, capsys):
    assert tuned(trunk, "classify", tmp_path / "no.tsv", tmp_path / "no.tsv", tmp_path / "run") == 2
    assert "no.tsv is no file: name one that is there" in capsys.readouterr().err
    assert (
        main(["finetune", "answers", "--model", trunk, "--data", "squad", "--out", str(tmp_path), *SHORT])
        == 2
    )
    assert "'squad' is no data set of questions: choose 'xquad'" in capsys.readouterr().err
    assert main(["predict", trunk, "--text", "a"]) == 2
    assert "which is not fine-tuned" in capsys.readouterr().err
    assert main(["predict", trunk]) == 2
    assert "give --data FILE, or one --text TEXT" in capsys.readouterr().err


def test_who_reads_no_further_is_no_fault(trunk, table, tmp_path, monkeypatch):
    assert tuned(trunk, "classify", table["train"], table["val"], tmp_path / "run", "--batch-size", "8") == 0
    monkeypatch.setattr("builtins.print", lambda *told, **options: (_ for _ in ()).throw(BrokenPipeError))
    monkeypatch.setattr("os.dup2", lambda *files: None)
    monkeypatch.setattr("sys.stdout.fileno", lambda: 1, raising=False)
    assert main(["predict", str(tmp_path / "run" / "model"), "--text", "the dog a"]) == 0
