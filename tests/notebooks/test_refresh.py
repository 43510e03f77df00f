"""refresh.py writes the same bytes twice, nothing of the machine, and nothing at all when a cell fails."""

from __future__ import annotations

import base64
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import gate
import refresh

FIGURE = """import io
from IPython.display import display
from matplotlib import pyplot as plt
fig, ax = plt.subplots(figsize=(2, 1))
ax.plot([1, 3, 2])
buffer = io.BytesIO()
fig.savefig(buffer)
plt.close(fig)
alt = "A line that rises to 3 and falls to 2"
data = {"image/png": buffer.getvalue(), "text/plain": alt}
display(data, metadata={"image/png": {"alt": alt}}, raw=True)"""

STILL = """from ipywidgets import IntSlider

class Slider(IntSlider):  # a widget with its still twin, as bertlab.viz makes them
    def _repr_mimebundle_(self, **kwargs):
        alt = "A slider at 3"
        data = {**super()._repr_mimebundle_(**kwargs), "image/png": PNG, "text/plain": alt}
        return data, {"image/png": {"alt": alt}}

Slider(3)"""

WIDGET = "from ipywidgets import IntSlider\nIntSlider(3)"


def write(folder: Path, *sources: str, tags: tuple[str, ...] = ()) -> Path:
    """Save a notebook never run, the way an author leaves it: `tags` go to its last cell."""
    cells = [new_markdown_cell("# A toy", id="toy-title")]
    cells += [new_code_cell(source, id=f"toy-{n}-cell") for n, source in enumerate(sources, 1)]
    cells[-1].metadata["tags"] = list(tags)
    path = folder / "toy.ipynb"
    metadata = {"widgets": {}, "language_info": {"name": "python", "version": "3.12.1"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), path)
    return path


def outputs(path: Path, number: int) -> list[nbformat.NotebookNode]:
    found: list[nbformat.NotebookNode] = nbformat.read(path, as_version=4).cells[number].outputs
    return found


@pytest.mark.slow
def test_D41_two_runs_write_the_same_bytes_and_the_gate_and_nbval_accept_them(tmp_path, tiny_png, nbval):
    bar = "from tqdm.auto import tqdm\nfor _ in tqdm(range(90)):\n    pass"
    path = write(tmp_path, f"PNG = {tiny_png!r}\nprint('one')\nprint('two')", FIGURE, STILL, bar, "1 / 0")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].metadata.update(editable=True, slideshow={"slide_type": "slide"}, collapsed=False)
    notebook.cells[5].metadata.update(tags=["raises-exception"])
    nbformat.write(notebook, path)

    assert refresh.refresh(path) == (True, [])
    first = path.read_bytes()
    assert refresh.refresh(path) == (False, [])
    assert path.read_bytes() == first
    assert nbval(tmp_path) == {"toy": []}

    assert nbformat.read(path, as_version=4).cells[1].metadata == {"slideshow": {"slide_type": "slide"}}
    assert [output.text for output in outputs(path, 1)] == ["one\ntwo\n"]
    assert b"matplotlib" not in base64.b64decode(outputs(path, 2)[0].data["image/png"])
    assert set(outputs(path, 3)[0].data) == {"image/png", "text/plain"}
    assert set(outputs(path, 4)[0].data) == {"text/plain"}
    assert outputs(path, 5)[0].traceback == ["ZeroDivisionError: division by zero"]


@pytest.mark.parametrize(
    ("source", "tags", "why"),
    [
        ("{}['no such key']", (), "cell toy-2-cell raised KeyError: 'no such key'"),
        (
            "harmless = 1",
            ("raises-exception",),
            "toy-2-cell is tagged raises-exception and did not raise",
        ),
        ("import os\nos._exit(1)", (), "cell toy-2-cell ended the kernel"),
    ],
)
def test_a_notebook_that_does_not_run_through_is_left_as_it_was(tmp_path, capsys, source, tags, why):
    path = write(tmp_path, "print(1)", source, tags=tags)
    before = path.read_bytes()

    assert refresh.main([str(path)]) == 1

    assert why in capsys.readouterr().out
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["toy.ipynb"]


def test_what_the_gate_will_refuse_is_said_at_once(tmp_path, capsys):
    path = write(tmp_path, "import sys\nprint('deprecated', file=sys.stderr)", WIDGET)

    assert refresh.main([str(path)]) == 1

    said = capsys.readouterr().out
    assert "rewritten" in said
    assert "toy-1-cell: has saved stderr" in said
    assert "toy-2-cell: shows a widget that has no still picture" in said


def test_a_cell_runs_in_the_folder_of_its_notebook(tmp_path):
    path = write(tmp_path, "import os\nprint(os.path.basename(os.getcwd()))")
    refresh.refresh(path)
    assert outputs(path, 1)[0].text.strip() == tmp_path.name


def test_a_png_without_its_text_is_the_same_picture(tmp_path):
    fig, ax = plt.subplots(figsize=(1, 1))
    ax.plot([1, 2])
    fig.savefig(tmp_path / "a.png", metadata={"Title": "a text"})
    plt.close(fig)
    image = (tmp_path / "a.png").read_bytes()
    (tmp_path / "b.png").write_bytes(refresh.without_text(image))

    assert b"a text" in image
    assert b"a text" not in refresh.without_text(image)
    assert (plt.imread(tmp_path / "a.png") == plt.imread(tmp_path / "b.png")).all()


def test_ids_and_reasons_given_by_hand_are_kept(good_notebook, saved):
    text = saved(good_notebook())
    notebook = nbformat.v4.reads(text)
    assert refresh.canonical(notebook) == text
    assert gate.free_cells(notebook) == {"toy-time": "the clock goes on"}
