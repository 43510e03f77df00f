"""An ELMo comes back from its folder as it went in, and nothing else is taken for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from bertlab.interop.elmo import load_elmo, save_elmo
from bertlab.nn import ELMoConfig, ELMoForPreTraining
from bertlab.text import SPECIAL, WordPiece
from bertlab.text.characters import word_characters

PIECES = WordPiece([*SPECIAL, "a", "b", "##c"])


def some_model(**changes: int) -> ELMoForPreTraining:
    sizes = {"vocab_size": len(PIECES), "d_model": 4, "d_memory": 6, "n_characters": 0} | changes
    return ELMoForPreTraining(ELMoConfig(**sizes))


def test_a_model_comes_back_with_its_tokenizer(tmp_path: Path) -> None:
    model = some_model()
    save_elmo(model, PIECES, tmp_path / "elmo")
    loaded, tokenizer = load_elmo(tmp_path / "elmo", recognise_special=True)
    assert loaded.config == model.config
    assert not loaded.training
    assert tokenizer.vocab == PIECES.vocab
    assert tokenizer.encode("a [MASK]").ids == [5, PIECES.mask_id]
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value)


def test_a_model_of_characters_comes_back_with_the_words_of_its_softmax(tmp_path: Path) -> None:
    sizes = {"d_character": 3, "filters": ((1, 2), (3, 4)), "n_highway": 2}
    model = ELMoForPreTraining(ELMoConfig(vocab_size=len(PIECES), d_model=4, d_memory=6, **sizes)).eval()
    save_elmo(model, PIECES, tmp_path / "elmo")
    loaded, words = load_elmo(tmp_path / "elmo")
    assert loaded.config == model.config
    assert words.vocab == PIECES.vocab
    characters = torch.from_numpy(word_characters(["[CLS]", "any", "word", "[SEP]"]))[None]
    assert torch.equal(loaded(characters).of_next, model(characters).of_next)


def test_in_float16_it_is_half_as_large_and_read_as_float32(tmp_path: Path) -> None:
    model = some_model(d_model=64, d_memory=64)
    for dtype in (torch.float32, torch.float16):
        save_elmo(model, PIECES, tmp_path / str(dtype), dtype)
    sizes = [
        (tmp_path / str(dtype) / "model.safetensors").stat().st_size
        for dtype in (torch.float32, torch.float16)
    ]
    assert sizes[1] < 0.55 * sizes[0]
    loaded, _ = load_elmo(tmp_path / "torch.float16")
    ids = torch.tensor([[2, 5, 6, 3]])
    torch.testing.assert_close(loaded.loss(ids)[0], model.eval().loss(ids)[0], rtol=1e-2, atol=1e-2)


def test_a_model_that_is_there_is_not_overwritten_unless_told(tmp_path: Path) -> None:
    save_elmo(some_model(), PIECES, tmp_path)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        save_elmo(some_model(), PIECES, tmp_path)
    save_elmo(some_model(), PIECES, tmp_path, overwrite=True)


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="knows 9 pieces, the tokenizer has 8"):
        save_elmo(some_model(vocab_size=9), PIECES, tmp_path)
    assert not list(tmp_path.iterdir())


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        load_elmo(tmp_path)
    save_elmo(some_model(), PIECES, tmp_path)
    path = tmp_path / "config.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told | {"d_memory": 7}))
    with pytest.raises(ValueError, match="do not fit the sizes"):
        load_elmo(tmp_path)
    path.write_text(json.dumps(told | {"model_type": "bert"}))
    with pytest.raises(ValueError, match="holds no ELMo"):
        load_elmo(tmp_path)
