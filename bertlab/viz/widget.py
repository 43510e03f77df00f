"""What every widget stands on: Python prepares and checks, the browser draws, nothing is fetched.

A widget brings its still twin, so a notebook that was saved, exported, or is not trusted shows a picture. And
it can be saved: as a picture, or as one HTML file that works without a network and without Python.
"""

import re
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from matplotlib.figure import Figure

from bertlab.viz.export import page, refuse_to_overwrite
from bertlab.viz.output import check_alt, picture_bundle, png, svg

STATIC = Path(__file__).parent / "static"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', flags=re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", flags=re.MULTILINE)


def script(name: str) -> str:
    """`static/name.js` and all that it imports, as one module: not every front end can load a second file.

    Each imported file becomes an object of the functions that it exports, so that names cannot collide.
    """
    parts: dict[str, str] = {}

    def with_imports(name: str) -> str:
        source = (STATIC / f"{name}.js").read_text("utf-8")
        for match in _IMPORT.finditer(source):
            if match[2] not in parts:
                parts[match[2]] = _as_object(match[2], with_imports(match[2]))
        return _IMPORT.sub(lambda match: f"const {{{match[1]}}} = {match[2]}_js;\n", source)

    entry = with_imports(name)
    return "\n".join([*parts.values(), entry])


def _as_object(name: str, source: str) -> str:
    offered = ", ".join(_EXPORT.findall(source))
    return f"const {name}_js = (() => {{\n{_EXPORT.sub('', source)}\nreturn {{ {offered} }};\n}})();"


class Widget(anywidget.AnyWidget):
    """What all widgets have: data for the browser, a still picture of their present state, and its words.

    A subclass names its script, tags what the reader may change with ``sync=True``, and gives `still` and
    `alt`. What is too large to be sent at once goes in chunks, when the browser asks for them.
    """

    _css = STATIC / "kit.css"
    payload = traitlets.Dict().tag(sync=True)

    def __init__(self, payload: dict[str, Any], **state: Any) -> None:
        super().__init__(payload=payload, **state)
        self.on_msg(self._answer)

    def still(self) -> Figure:
        """The present state as a picture."""
        raise NotImplementedError

    @property
    def alt(self) -> str:
        """The still picture in words: what holds on every machine, since tests compare it to the letter."""
        raise NotImplementedError

    def chunk_names(self) -> list[str]:
        """Names of all chunks that the browser may ask for; a saved page carries them all."""
        return []

    def chunk(self, name: str) -> list[bytes]:
        """The buffers of one chunk."""
        raise KeyError(name)

    def _answer(self, _: "Widget", content: dict[str, Any], __: list[memoryview]) -> None:
        """Send the chunks that the browser wants; an unknown name is answered, too: it waits."""
        for name in content.get("want", []):
            try:
                self.send({"chunk": name}, self.chunk(name))
            except (KeyError, ValueError, IndexError) as error:
                self.send({"chunk": name, "error": str(error)})

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Save the widget as it stands now: `.png` or `.svg` as a picture, `.html` alive.

        The HTML file holds all that it needs: it works from a disk, with no network and no Python.

        Parameters
        ----------
        path : str or Path
            Its ending chooses the format.
        overwrite : bool
            Replace a file that is there already.

        Returns
        -------
        Path
            Where it was saved.

        Raises
        ------
        ValueError
            If the ending is another one.
        FileExistsError
            If the file is there and `overwrite` is not set.
        """
        path = Path(path)
        kinds = {".png": self._as_png, ".svg": self._as_svg, ".html": self._as_html}
        if path.suffix not in kinds:
            raise ValueError(f"{path.name}: a view is saved as .html, .svg or .png")
        if not overwrite:
            refuse_to_overwrite(path)
        path.write_bytes(kinds[path.suffix]())
        return path

    def _as_png(self) -> bytes:
        return png(self.still())

    def _as_svg(self) -> bytes:
        return svg(self.still())

    def _as_html(self) -> bytes:
        names = [name for name in self.trait_names(sync=True) if not name.startswith("_")]
        state = {name: getattr(self, name) for name in names if name not in ("layout", "tabbable", "tooltip")}
        chunks = ((name, self.chunk(name)) for name in self.chunk_names())
        return page(str(self._esm), str(self._css), script("offline"), state, chunks, self.alt)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        live, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        picture, described = picture_bundle(self.still(), check_alt(self.alt))
        return {**live, **picture}, {**metadata, **described}
