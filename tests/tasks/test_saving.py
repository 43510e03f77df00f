"""A fine-tuned model goes out in the ecosystem's format and comes back, with its labels, as theirs do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

from bertlab.interop import save_bert
from bertlab.nn import BertModel
from bertlab.tasks.heads import BertForClassification, BertForSpans, BertForTokens
from bertlab.tasks.saving import load_tuned, save_tuned
from tests.interop.small_bert import some_bert, tokenizer

LABELS = ("O", "B-PER", "I-PER")
IDS = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]])


def made(kind):
    bert = some_bert("pooler")
    torch.manual_seed(0)
    model = BertForSpans(bert) if kind is BertForSpans else kind(bert, len(LABELS))
    torch.nn.init.normal_((model.spans if kind is BertForSpans else model.classifier).weight)
    return model.eval()


KINDS = {
    BertForClassification: transformers.AutoModelForSequenceClassification,
    BertForTokens: transformers.AutoModelForTokenClassification,
    BertForSpans: transformers.AutoModelForQuestionAnswering,
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_saved_comes_back_with_its_labels(tmp_path, kind):
    model, labels = made(kind), () if kind is BertForSpans else LABELS
    save_tuned(model, tokenizer(), tmp_path, labels)
    again, pieces, named = load_tuned(tmp_path)
    assert type(again) is kind
    assert named == labels
    assert pieces.vocab == tokenizer().vocab
    with torch.no_grad():
        torch.testing.assert_close(again(IDS), model(IDS), rtol=0, atol=0)


@pytest.mark.parametrize(("kind", "theirs"), KINDS.items())
def test_transformers_reads_the_same_numbers(tmp_path, kind, theirs):
    model = made(kind)
    save_tuned(model, tokenizer(), tmp_path, () if kind is BertForSpans else LABELS)
    other, told = theirs.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(told[problem] for problem in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    real = IDS != 0
    with torch.no_grad():
        ours, output = model(IDS), other.eval()(IDS, attention_mask=real.long())
    if kind is BertForSpans:
        theirs_both = torch.stack([output.start_logits, output.end_logits])
        torch.testing.assert_close(ours[:, real], theirs_both[:, real], rtol=1e-5, atol=1e-5)
    else:
        assert [other.config.id2label[i] for i in range(3)] == list(LABELS)
        logits = output.logits if kind is BertForClassification else output.logits[real]
        torch.testing.assert_close(
            ours if kind is BertForClassification else ours[real], logits, rtol=1e-5, atol=1e-5
        )


def test_their_fine_tuned_model_is_read(tmp_path):
    save_bert(some_bert("pooler"), tokenizer(), tmp_path / "trunk")
    other = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "trunk", num_labels=2)
    other.save_pretrained(tmp_path / "tuned")
    for file in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "tuned" / file).write_bytes((tmp_path / "trunk" / file).read_bytes())
    model, _, labels = load_tuned(tmp_path / "tuned")
    assert labels == ("LABEL_0", "LABEL_1")
    with torch.no_grad():
        theirs = other.eval()(IDS, attention_mask=(IDS != 0).long()).logits.numpy()
        np.testing.assert_allclose(model(IDS).numpy(), theirs, atol=1e-5)


def test_what_is_no_fine_tuned_model_is_refused(tmp_path):
    save_bert(some_bert("pooler"), tokenizer(), tmp_path)
    with pytest.raises(ValueError, match="is a BertModel, which is not fine-tuned: choose a model that"):
        load_tuned(tmp_path)


def test_a_label_for_each_output_and_nothing_overwritten(tmp_path):
    model = made(BertForTokens)
    with pytest.raises(ValueError, match="2 labels for 3 outputs: give one for each"):
        save_tuned(model, tokenizer(), tmp_path, LABELS[:2])
    save_tuned(model, tokenizer(), tmp_path, LABELS)
    with pytest.raises(FileExistsError, match="is there already"):
        save_tuned(model, tokenizer(), tmp_path, LABELS)


def test_a_head_of_another_shape_is_refused(tmp_path):
    bare = BertModel(replace(some_bert("bare").config), pooler=False)
    model = BertForTokens(bare, 3)
    save_tuned(model, tokenizer(), tmp_path, LABELS)
    from safetensors.torch import load_file, save_file

    tensors = load_file(tmp_path / "model.safetensors")
    tensors["classifier.weight"] = tensors["classifier.weight"][:, :4].contiguous()
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(ValueError, match=r"weight is \(3, 4\) instead of \(3, 16\)"):
        load_tuned(tmp_path)
