"""Tensors by name, in every file that they come in; no pickle, no TensorFlow, no half of a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from bertlab.interop.weight_files import read_tensors, write_tensors

TENSORS = {
    "a.weight": torch.arange(12.0).view(3, 4),
    "a.bias": torch.arange(4.0),
    "b": torch.ones(5, dtype=torch.float16),
}


def same(found: dict[str, torch.Tensor]) -> None:
    assert found.keys() == TENSORS.keys()
    assert all(torch.equal(found[name], tensor) for name, tensor in TENSORS.items())
    assert found["b"].dtype == torch.float16


@pytest.mark.parametrize(("most", "files"), [(1000, 1), (74, 1), (73, 2), (48, 2), (20, 3), (1, 3)])
def test_shards_hold_at_most_what_they_may_and_give_it_all_back(
    tmp_path: Path, most: int, files: int
) -> None:
    write_tensors(TENSORS, tmp_path, most)
    assert len(list(tmp_path.glob("*.safetensors"))) == files
    assert (tmp_path / "model.safetensors.index.json").exists() == (files > 1)
    same(read_tensors(tmp_path))
    for file in tmp_path.glob("*.safetensors"):  # transformers before 5 refuses a file that does not say it
        with safe_open(file, "pt") as opened:
            assert opened.metadata() == {"format": "pt"}


@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "before torch 1.6"])
def test_a_bin_of_tensors_is_read(tmp_path: Path, legacy: bool) -> None:
    torch.save(TENSORS, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=not legacy)
    same(read_tensors(tmp_path))


def test_bins_in_shards_are_read(tmp_path: Path) -> None:
    for i, (name, tensor) in enumerate(TENSORS.items(), 1):
        torch.save({name: tensor}, tmp_path / f"pytorch_model-{i:05}-of-00003.bin")
    named = {name: f"pytorch_model-{i:05}-of-00003.bin" for i, name in enumerate(TENSORS, 1)}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": named}))
    same(read_tensors(tmp_path))


def test_safetensors_come_before_a_bin(tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "model.safetensors")
    torch.save({"old": torch.ones(1)}, tmp_path / "pytorch_model.bin")
    same(read_tensors(tmp_path))


class Trap:
    """What runs a function when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


def test_a_pickle_is_never_run(tmp_path: Path) -> None:
    torch.save({"a": Trap(tmp_path / "run")}, tmp_path / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"pytorch_model.bin holds more than tensors, or is damaged"):
        read_tensors(tmp_path)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", [{"state_dict": {"a": torch.ones(1)}}, [torch.ones(1)], {"step": 3}])
def test_a_bin_of_other_things_is_refused(tmp_path: Path, content: Any) -> None:
    torch.save(content, tmp_path / "pytorch_model.bin")
    with pytest.raises(ValueError, match="is no list of tensors by name: save the state_dict"):
        read_tensors(tmp_path)


@pytest.mark.parametrize("file", ["model.safetensors", "pytorch_model.bin"])
@pytest.mark.parametrize("content", [b"", b"version https://git-lfs.github.com/spec/v1", b"\x80\x02}q\x00."])
def test_a_damaged_file_is_named(tmp_path: Path, file: str, content: bytes) -> None:
    (tmp_path / file).write_bytes(content)
    with pytest.raises(ValueError, match=file):
        read_tensors(tmp_path)


@pytest.mark.parametrize(
    ("file", "fix"),
    [
        (
            "bert_model.ckpt.index",
            "transformers-cli convert --model_type bert --tf_checkpoint bert_model.ckpt",
        ),
        ("bert_model.ckpt.data-00000-of-00001", "then name the config config.json"),
        ("tf_model.h5", "from_tf=True"),
        ("flax_model.msgpack", "from_flax=True"),
    ],
)
def test_weights_of_tensorflow_and_flax_are_refused_with_the_way_to_convert(
    tmp_path: Path, file: str, fix: str
) -> None:
    (tmp_path / file).touch()
    with pytest.raises(ValueError, match=fix) as caught:
        read_tensors(tmp_path)
    assert file.split(".")[0] in str(caught.value)


def test_no_weights_at_all_and_missing_shards_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no weights: one of model.safetensors, .* is needed"):
        read_tensors(tmp_path)
    write_tensors(TENSORS, tmp_path, 1)
    (tmp_path / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no model-00002-of-00003.safetensors"):
        read_tensors(tmp_path)


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ("{", "is no index of shards"),
        ("{}", "is no index of shards"),
        ('{"weight_map": [1]}', "is no index of shards"),
        (
            '{"weight_map": {"a": "../model.safetensors"}}',
            "names ../model.safetensors, which is not beside it",
        ),
        ('{"weight_map": {"a": "one.safetensors", "c": "one.safetensors"}}', "lack c"),
        ('{"weight_map": {"c": "one.safetensors"}}', "holds a, which .* does not expect there"),
    ],
)
def test_an_index_that_lies_is_refused(tmp_path: Path, index: str, sentence: str) -> None:
    save_file({"a": torch.ones(1)}, tmp_path / "one.safetensors")
    (tmp_path / "model.safetensors.index.json").write_text(index)
    with pytest.raises(ValueError, match=sentence):
        read_tensors(tmp_path)
