"""Write requirements.txt: the exact version of everything that bertlab brings in, as it is installed here.

    python tools/pins.py

What `make site` needs besides goes to docs/requirements.txt, if it is installed.
Run it after a change of pyproject.toml, in an environment where all tests pass.
"""

from __future__ import annotations

import importlib.metadata as metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
HEADER = """\
# The exact versions that are tested: the closure of bertlab[dev], written by `make pins`. torch comes first.
# Also good as constraints: pip install -c requirements.txt -e .
"""
SITE_HEADER = """\
# What `make site` needs besides requirements.txt: the rest of bertlab[site], written by `make pins`.
"""


def closure(root: str, extra: str) -> dict[str, str]:
    """Name and version of each installed package that `root[extra]` requires on this machine.

    Left out are the CUDA libraries of torch, which depend on its build, and setuptools, as in `pip freeze`.
    """
    found: dict[str, str] = {}
    asked: set[tuple[str, str]] = set()
    todo = [(canonicalize_name(root), extra)]
    while todo:
        name, extra = todo.pop()
        if (name, extra) in asked:
            continue
        asked.add((name, extra))
        package = metadata.distribution(name)
        found[name] = Version(package.version).public
        for requirement in map(Requirement, package.requires or []):
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": extra})
            if wanted and not (name == "torch" and requirement.name.startswith(("nvidia", "cuda", "triton"))):
                todo += [(canonicalize_name(requirement.name), e) for e in ("", *requirement.extras)]
    return {name: version for name, version in found.items() if name not in (root, "setuptools")}


def requirements() -> str:
    """Text of requirements.txt for the packages installed here."""
    pins = closure("bertlab", "dev")
    order = sorted(pins, key=lambda name: (name != "torch", name))
    return HEADER + "".join(f"{name}=={pins[name]}\n" for name in order)


def site_requirements() -> str:
    """Text of docs/requirements.txt; PackageNotFoundError where they are not installed."""
    pins, more = closure("bertlab", "dev"), closure("bertlab", "site")
    return SITE_HEADER + "".join(f"{name}=={more[name]}\n" for name in sorted(set(more) - set(pins)))


if __name__ == "__main__":
    (ROOT / "requirements.txt").write_text(requirements())
    try:
        (ROOT / "docs" / "requirements.txt").write_text(site_requirements())
    except metadata.PackageNotFoundError as error:
        print(f"docs/requirements.txt stays as it is: {error.name} is not installed (make site)")
