import json
import re

import pytest

from bertlab.datasets import UnknownName, card, names, registry
from bertlab.datasets.convert import STEPS

ALL = [card(name) for section in registry.SECTIONS for name in names(section)]


@pytest.mark.parametrize("card", ALL, ids=lambda card: card.name)
def test_a_card_states_licence_pinned_source_and_checksums(card):
    assert card.description
    assert card.licence
    assert card.licence_note
    assert card.note or card.section == "pretrained"
    assert card.package is None or re.fullmatch(r"[\w-]+==[\d.]+", card.package)
    assert card.hub is None or re.fullmatch(r"[0-9a-f]{40}", card.hub[1])
    for file in card.files:
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.bytes > 0
        assert {re.split("[: ]", step)[0] for step in file.conversion} <= set(STEPS)
        for upstream in file.upstream:
            assert re.fullmatch(r"[0-9a-f]{64}", upstream.sha256)
            assert card.package or re.fullmatch(r"[\w.-]+/[\w.-]+", upstream.repo)
            assert card.package or re.fullmatch(r"[0-9a-f]{40}", upstream.commit)
        if not file.conversion:  # nothing is changed, so it is its own upstream file
            assert [file.sha256] == [upstream.sha256 for upstream in file.upstream]


def test_there_are_twenty_data_sets_and_two_published_models():
    assert len(names()) == 20
    assert names("pretrained") == ["all-MiniLM-L6-v2", "glove-6b-50d"]


def test_three_sets_are_for_non_commercial_use_and_their_cards_say_so_first():
    limited = [card for card in ALL if card.non_commercial]
    assert [card.name for card in limited] == ["coarsewsd-20", "multi30k", "sst2"]
    assert all("licence  NON-COMMERCIAL" in str(card) for card in limited)


def test_the_published_bert_says_what_it_is_and_what_it_lacks():
    mini = card("all-MiniLM-L6-v2")
    assert "6-layer BERT encoder" in mini.description
    assert "trained further for sentence embeddings, without MLM head" in mini.description
    assert mini.licence == "Apache-2.0"
    weights = {file.path: file for file in mini.files}["model.safetensors"]
    assert weights.sha256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    vocabularies = [
        {f.path: f for f in c.files}["vocab.txt"] for c in (mini, card("bert-base-uncased-vocab"))
    ]
    assert vocabularies[0].sha256 == vocabularies[1].sha256  # it speaks BERT's own vocabulary


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [("multi-30k", "did you mean 'multi30k'"), ("xyzzy", "choose one of all-MiniLM-L6-v2, ")],
)
def test_an_unknown_name_is_refused_with_a_way_out(wrong, hint):
    with pytest.raises(UnknownName, match=hint):
        card(wrong)


def test_a_file_may_come_from_another_repository_than_its_set():
    sample, vocabulary = card("bert-base-uncased-vocab").files
    assert sample.upstream[0].repo == "google-research/bert"
    assert vocabulary.upstream[0].repo == "PAIR-code/lit"


def test_a_card_of_many_files_prints_short():
    assert len(repr(card("wikipedia-homographs"))) < 2000  # it has 325 upstream files
    assert "2.2 MB in 3 files" in str(card("wikipedia-homographs"))


def test_the_manifest_says_the_same_as_the_mirrors(real_mirror):
    theirs = json.loads((real_mirror / "manifest.json").read_text("utf-8"))["datasets"]
    assert names() == [d["name"] for d in theirs]
    for d in theirs:
        ours = card(d["name"])
        assert (ours.licence, ours.licence_note, ours.non_commercial) == (
            d["licence"],
            d["licence_note"],
            d["non_commercial"],
        )
        assert ours.package == d.get("source_package")
        for file, f in zip(ours.files, d["files"], strict=True):
            assert (file.path, file.bytes, file.sha256) == (f["path"], f["bytes"], f["sha256"])
            assert " | ".join(file.conversion) == (f["conversion"] or "")
            for upstream, u in zip(file.upstream, f["upstream"], strict=True):
                assert (upstream.path, upstream.bytes, upstream.sha256) == (
                    u["path"],
                    u["bytes"],
                    u["sha256"],
                )
                assert upstream.repo == u.get("source_repo", d["source_repo"])
                assert upstream.commit == u.get("source_commit", d["source_commit"])
