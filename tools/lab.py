"""Open JupyterLab at notebooks/: in a browser where there is a screen, else by the URL it prints.

python tools/lab.py [ARGUMENT OF JUPYTERLAB ...]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def arguments(platform: str, environment: Mapping[str, str], user: int, given: Sequence[str]) -> list[str]:
    """Arguments of JupyterLab for this machine; those `given` come last and so win."""
    chosen = [f"--ServerApp.root_dir={ROOT / 'notebooks'}"]
    if platform == "linux" and not environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
        chosen.append("--no-browser")
    if user == 0:  # JupyterLab wants to be told that root means it
        chosen.append("--allow-root")
    return [*chosen, *given]


if __name__ == "__main__":
    user = os.geteuid() if hasattr(os, "geteuid") else 1
    command = ["-m", "jupyterlab", *arguments(sys.platform, os.environ, user, sys.argv[1:])]
    os.execv(sys.executable, [sys.executable, *command])
