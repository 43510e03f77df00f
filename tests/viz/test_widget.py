"""The base of all widgets: one script, chunks that are asked for, and files that are saved."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bertlab import viz
from bertlab.viz import widget
from bertlab.viz.views import AttentionView
from bertlab.viz.widget import script


@pytest.fixture
def temperature():
    return viz.softmax_temperature([2.0, 1.0, -1.0], ["<b>", "$x$", "##</svg>"], {"one": 1, "√64": 8})


@pytest.fixture
def static(tmp_path, monkeypatch):
    """A folder of scripts in place of ours."""
    monkeypatch.setattr(widget, "STATIC", tmp_path)
    return tmp_path


def test_scripts_that_import_each_other_become_one_whose_names_do_not_collide(static):
    imports = 'import { two } from "./b.js";\nimport { one } from "./c.js";\n'
    (static / "a.js").write_text(imports + "const own = 1;\nexport default { two };\n")
    (static / "b.js").write_text(
        'import { one } from "./c.js";\nconst own = 2;\nexport const two = one + own;\n'
    )
    (static / "c.js").write_text("const own = 3;\nexport async function one() { return own; }\n")
    joined = script("a")
    assert joined.count("async function one()") == 1
    assert joined.index("c_js =") < joined.index("b_js =") < joined.index("const own = 1")
    assert "return { two };\n})();" in joined
    assert "const { two } = b_js;" in joined
    assert not re.search(r"^import", joined, flags=re.MULTILINE)
    assert joined.count("export ") == 1


def test_a_widget_says_what_it_lacks():
    with pytest.raises(NotImplementedError):
        widget.Widget({}).still()


def test_a_chunk_is_sent_when_it_is_asked_for_and_an_unknown_one_is_answered(monkeypatch, rng):
    weights = rng.dirichlet(np.ones(3), size=(2, 2, 3))
    layers = viz.AttentionLayers(list(weights), ["a", "b", "c"])
    view = AttentionView({"": layers}, {})
    sent = []
    monkeypatch.setattr(view, "send", lambda content, buffers=None: sent.append((content, buffers)))
    view._answer(view, {"want": ["0/1/0", "0/7/0", "nonsense"]}, [])
    assert [content["chunk"] for content, _ in sent] == ["0/1/0", "0/7/0", "nonsense"]
    assert ["error" in content for content, _ in sent] == [False, True, True]
    levels, steps = (
        np.frombuffer(buffer, kind) for buffer, kind in zip(sent[0][1], ("<u2", "<f4"), strict=True)
    )
    np.testing.assert_allclose(levels.reshape(3, 3) * steps[:, None], weights[1, 0], atol=1e-5)
    assert view.chunk_names() == ["0/0/0", "0/0/1", "0/1/0", "0/1/1"]


def test_a_widget_is_saved_as_picture_drawing_or_page(temperature, tmp_path):
    with Image.open(temperature.save(tmp_path / "x.png")) as picture:
        assert picture.width == 860
    drawing = temperature.save(tmp_path / "x.svg").read_text("utf-8")
    assert "<svg" in drawing
    assert "##&lt;/svg&gt;" in drawing
    assert temperature.save(str(tmp_path / "x.html")).read_text("utf-8").startswith("<!doctype html>")


def test_the_same_widget_is_saved_as_the_same_bytes(temperature, tmp_path):
    for kind in ("png", "svg", "html"):
        first, again = (temperature.save(tmp_path / f"{n}.{kind}").read_bytes() for n in (1, 2))
        assert first == again, kind


def test_what_is_saved_is_the_present_state(temperature, tmp_path):
    temperature.place = 3
    page = temperature.save(tmp_path / "x.html").read_text("utf-8")
    state = re.search(r'<script type="application/json" id="state">(.*?)</script>', page, flags=re.DOTALL)
    assert json.loads(state[1])["place"] == 3


def test_no_file_is_overwritten_silently(temperature, tmp_path):
    path = temperature.save(tmp_path / "x.png")
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError, match=r"x.png is there already: .* overwrite=True"):
        temperature.save(path)
    assert path.read_bytes() == b"mine"
    assert temperature.save(path, overwrite=True).stat().st_size > 1000


@pytest.mark.parametrize("name", ["x.pdf", "x", "x.PNGG"])
def test_another_format_is_refused_before_anything_is_written(temperature, tmp_path, name):
    with pytest.raises(ValueError, match=rf"{name}: a view is saved as .html, .svg or .png"):
        temperature.save(tmp_path / name)
    assert not list(Path(tmp_path).iterdir())
