"""The commands of `python -m bertlab`: get, data, shards, pretrain, finetune, predict, doctor."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata

from packaging.requirements import Requirement

from bertlab import best_device
from bertlab.datasets import documents, fetch, load, registry
from bertlab.datasets.errors import DataDamaged, DataUnavailable, UnknownName
from bertlab.datasets.registry import Card, human

PROGRAM = "python -m bertlab"


class CannotWrite(Exception):
    """What a command was to write cannot be written; the sentence says why."""


@contextmanager
def told_in_a_sentence(goes_on: bool = True) -> Iterator[None]:
    """Turn what a command cannot do into a sentence for its user; after Ctrl-C say whether it goes on."""
    try:
        yield
    except (UnknownName, DataUnavailable, DataDamaged, BrokenPipeError):
        raise
    except (ValueError, OSError, FloatingPointError) as error:
        raise CannotWrite(error) from error
    except KeyboardInterrupt:
        if goes_on:
            print("\nthe same command goes on from here", file=sys.stderr)
        raise


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status: 0 well, 1 the doctor found something, 2 it cannot be done."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="What the course needs, from the command line."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    get = commands.add_parser("get", help="fetch published models or data sets into the cache")
    get.add_argument("names", nargs="+", metavar="NAME", help="as `data` lists them, e.g. all-MiniLM-L6-v2")
    get.set_defaults(run=lambda chosen: get_all(chosen.names))

    data = commands.add_parser("data", help="list what there is; with NAME: fetch it and show its card")
    data.add_argument("name", nargs="?", metavar="NAME")
    data.set_defaults(run=lambda chosen: show_card(chosen.name) if chosen.name else list_data())

    shards = commands.add_parser("shards", help="write documents in numbers, for pre-training")
    shards.add_argument("folder", metavar="FOLDER", help="new, or left by an interrupted call")
    shards.add_argument("sets", nargs="+", metavar="SET", help="books, masc, wikisplit or wikitext-2")
    shards.add_argument("--vocab", metavar="FILE", help="vocab.txt; if not given, that of bert-base-uncased")
    shards.add_argument("--cased", action="store_true", help="keep capital letters and accents")
    shards.set_defaults(run=lambda chosen: shard(chosen.folder, chosen.sets, chosen.vocab, chosen.cased))

    train = commands.add_parser("pretrain", help="pre-train a BERT, alone or under torchrun; go on with one")
    train.add_argument("config", metavar="CONFIG.toml", help="all choices; README has an example")
    train.set_defaults(run=lambda chosen: pre_train(chosen.config))

    tune = commands.add_parser("finetune", help="train a BERT further for a task; go on with one")
    tune_arguments(tune)
    tune.set_defaults(run=tune_bert)
    ask = commands.add_parser("predict", help="ask a fine-tuned BERT")
    ask_arguments(ask)
    ask.set_defaults(run=ask_bert)

    doctor = commands.add_parser("doctor", help="check versions, device, cache and data")
    doctor.set_defaults(run=lambda chosen: examine())

    chosen = parser.parse_args(arguments)
    try:
        status = int(chosen.run(chosen))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # who reads, `head` for example, has seen enough; nothing may be written any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (UnknownName, DataUnavailable, DataDamaged, CannotWrite) as error:
        print(f"bertlab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nbertlab: interrupted; files that were complete are kept", file=sys.stderr)
        return 130


def get_all(names: Sequence[str]) -> int:
    """Fetch each name, after all of them are known to exist, and say where it is."""
    for card in [registry.card(name) for name in names]:
        folder = fetch.fetch(card)
        print(f"{card.name} ({human(card.bytes)}) is in {folder}")
    return 0


def show_card(name: str) -> int:
    """Fetch one name and show its card, its folder and its files."""
    card = registry.card(name)
    folder = fetch.fetch(card)
    print(card)
    print(f"  folder   {folder}")
    for file in card.files:
        print(f"           {file.path}  {human(file.bytes)}")
    return 0


def shard(folder: str, sets: Sequence[str], vocab: str | None, cased: bool) -> int:
    """Write sets of documents as shards of tokens, and say what they hold."""
    from bertlab.text import WordPiece, write_shards  # imports torch

    with told_in_a_sentence():
        texts = [document for name in dict.fromkeys(sets) for document in documents(name)]
        path = vocab or load("bert-base-uncased-vocab").path("vocab.txt")
        # In wikitext-2, [UNK] stands for a word that was lost; elsewhere nobody means a special token.
        tokenizer = WordPiece.from_file(path, not cased, recognise_special="wikitext-2" in sets, fast=True)
        corpus = write_shards(folder, texts, tokenizer)
    tokens, sentences, n = int(corpus.borders[-1]), len(corpus.borders) - 1, len(corpus.source)
    print(f"{folder}: {tokens:,} tokens, {sentences:,} sentences, {n:,} documents")
    return 0


def pre_train(config: str) -> int:
    """Pre-train as a file says, and save the model as other libraries read it."""
    from bertlab import interop
    from bertlab.training.pretrain import pretrain
    from bertlab.training.pretrain_config import PretrainConfig, read_config

    with told_in_a_sentence():
        pretrain(read_config(config, PretrainConfig), best_device(), interop.load_bert, interop.save_bert)
    return 0


def tune_arguments(command: argparse.ArgumentParser) -> None:
    """Say what `finetune` is told."""
    command.add_argument("task", choices=("classify", "entities", "answers"), help="what the head is for")
    command.add_argument("--model", required=True, help="a folder, a checkpoint here, or an id of the hub")
    command.add_argument("--data", metavar="NAME", help="public data, by a name of `data`")
    command.add_argument("--train", metavar="FILE", help="or your own: .tsv, .csv, CoNLL's or SQuAD's form")
    command.add_argument("--val", metavar="FILE", help="the best epoch is chosen by it")
    command.add_argument("--columns", nargs="+", default=["text"], help="of a table: a text, or two (text)")
    command.add_argument("--label", default="label", help="of a table: the column of the labels (label)")
    command.add_argument("--out", required=True, metavar="FOLDER", help="checkpoint, journal, and the model")
    command.add_argument("--epochs", type=int, default=3, help="passes over the data (3)")
    command.add_argument("--batch-size", type=int, default=32, help="inputs in a step (32)")
    command.add_argument("--rate", type=float, default=5e-5, help="highest learning rate (5e-5)")
    command.add_argument("--layer-decay", type=float, default=1.0, help="rate of a layer by the next's (1)")
    command.add_argument("--max-length", type=int, default=128, help="most pieces of an input (128)")
    command.add_argument("--seed", type=int, default=0, help="of new weights, order and dropout (0)")
    command.add_argument("--frozen", action="store_true", help="train what is new alone")
    command.add_argument(
        "--bf16",
        action="store_true",
        help="compute in bfloat16: faster on most GPUs, and on a CPU that has it",
    )


def ask_arguments(command: argparse.ArgumentParser) -> None:
    """Say what `predict` is told."""
    command.add_argument("model", help="the folder `model` that `finetune` wrote, or an id of the hub")
    command.add_argument("--data", metavar="FILE", help="as for training; for entities a sentence a line")
    command.add_argument("--columns", nargs="+", default=["text"], help="of a table: a text, or two (text)")
    command.add_argument("--text", help="or one text; for questions, the passage")
    command.add_argument("--pair", help="and a second one; for questions, the question")


def tune_bert(chosen: argparse.Namespace) -> int:
    """Fine-tune a BERT for a task, and save it as other libraries read it."""
    from bertlab.tasks.command import finetune
    from bertlab.training.bfloat16 import IMITATED, bfloat16_is_fast

    device = best_device()
    if chosen.bf16 and not bfloat16_is_fast(device):
        print(IMITATED, file=sys.stderr)
    with told_in_a_sentence():
        print(finetune(chosen, device))
    return 0


def ask_bert(chosen: argparse.Namespace) -> int:
    """Print what a fine-tuned BERT answers."""
    from bertlab.tasks.command import predict

    with told_in_a_sentence(goes_on=False):
        for line in predict(chosen, best_device()):
            print(line)
    return 0


def list_data() -> int:
    """List all names with licence, size and where they are now."""
    for section in registry.SECTIONS:
        print(section)
        for name in registry.names(section):
            card = registry.card(name)
            licence = f"{card.licence}, non-commercial" if card.non_commercial else card.licence
            print(f"  {name:24} {human(card.bytes):>8}  {fetch.whereabouts(card):10} {licence}")
    print(f"\n{PROGRAM} data NAME fetches one into {fetch.cache_folder()} and shows its card.")
    return 0


def examine() -> int:
    """Say line by line what is here, and for what is wrong how to mend it."""
    wrong = 0
    for state, what, fix in findings():
        print(f"{state:8} {what}" + (f": {fix}" if fix else ""))
        wrong += state == "MISSING"
    print("\nall that is required is here" if not wrong else f"\n{wrong} required: see MISSING above")
    return 1 if wrong else 0


def findings() -> Iterator[tuple[str, str, str]]:
    """Yield (state, what, fix) of all that is looked at; states are "ok", "absent" (optional), "MISSING"."""
    old = sys.version_info < (3, 11)
    yield (
        "MISSING" if old else "ok",
        f"Python {platform.python_version()}",
        "install 3.11 or newer" if old else "",
    )
    yield "ok", f"bertlab {metadata.version('bertlab')}", ""
    for requirement in map(Requirement, metadata.requires("bertlab") or []):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield _package(requirement)
    yield _device()
    yield from _folders()
    for section in reversed(registry.SECTIONS):
        for name in registry.names(section):
            yield _data(registry.card(name))


def _package(requirement: Requirement) -> tuple[str, str, str]:
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return "MISSING", requirement.name, f'pip install "{requirement}"'
    if not requirement.specifier.contains(version, prereleases=True):
        return "MISSING", f"{requirement.name} {version}", f'pip install "{requirement}"'
    return "ok", f"{requirement.name} {version}", ""


def _device() -> tuple[str, str, str]:
    try:
        device = best_device()  # imports torch, which `get` and `data` need not wait for
    except ImportError:
        return "MISSING", "device: torch does not import", "pip install torch"
    return "ok", f"device {device.type}, {os.cpu_count()} cores", ""


def _folders() -> Iterator[tuple[str, str, str]]:
    cache = fetch.cache_folder()
    try:
        fetch.save(cache / "writable", b"")
        (cache / "writable").unlink()
        yield "ok", f"cache {cache}", ""
    except OSError as error:
        yield "MISSING", f"cache {cache} ({error.strerror})", "name a folder of yours in BERTLAB_CACHE"
    try:
        mirror = fetch.mirror_folder()
        yield (
            "ok" if mirror else "absent",
            f"mirror {mirror or 'folder'}",
            "" if mirror else "only needed offline",
        )
    except DataUnavailable as error:
        yield "MISSING", "mirror folder", str(error)


def _data(card: Card) -> tuple[str, str, str]:
    try:
        place = fetch.whereabouts(card)
    except DataUnavailable:  # already told with the mirror
        place = "not here"
    if place == "not here":
        return "absent", f"{card.name} ({human(card.bytes)})", f"{PROGRAM} get {card.name}"
    return "ok", f"{card.name} (in the {place})", ""


if __name__ == "__main__":
    sys.exit(main())
