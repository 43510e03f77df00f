import re

import pytest

from bertlab.datasets import card, names, sources


@pytest.fixture
def public(monkeypatch):
    """No address is replaced."""
    monkeypatch.delenv("BERTLAB_GITHUB")
    monkeypatch.delenv("HF_ENDPOINT")


def test_every_address_on_github_is_pinned_to_a_commit(public):
    upstream = {u for name in names() for file in card(name).files for u in file.upstream if u.repo}
    assert len(upstream) > 400
    for address in map(sources.github_address, upstream):
        assert re.fullmatch(r"https://raw\.githubusercontent\.com/[\w.-]+/[\w.-]+/[0-9a-f]{40}/\S+", address)


def test_spaces_and_accents_in_a_path_are_quoted(public):
    addresses = [sources.github_address(file.upstream[0]) for file in card("books").files]
    assert any("/Jane%20Austen/Persuasion.md" in address for address in addresses)
    assert any("/Charlotte%20Bront" in address for address in addresses)
    assert all(address.isascii() for address in addresses)


def test_every_address_on_the_hub_is_pinned_to_a_revision(public):
    mini = card("all-MiniLM-L6-v2")
    hub = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve"
    assert {sources.hub_address(mini, file).rsplit("/", 1)[0] for file in mini.files} == {
        f"{hub}/1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
    }
