"""What a pre-training is told: a TOML file, checked when it is read."""

from __future__ import annotations

import difflib
import tomllib
import types
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from bertlab.nn.bert_config import BertConfig
from bertlab.text.masked_lm import SHARES, check_chances

SIZES = ("tiny", "mini", "small", "medium", "base", "large")
Config = TypeVar("Config")
_ELSEWHERE = ("vocab_size", "pad_id", "dropout", "attention_dropout")  # fields of a BertConfig told elsewhere


class ConfigError(ValueError):
    """A configuration cannot be used; the sentence names the key, its value and what to do."""


@dataclass(frozen=True, kw_only=True)
class PretrainConfig:
    """All choices of a pre-training; paths as in the shell, from the folder where the command is given.

    Raises
    ------
    ConfigError
        If a value makes no training; the sentence names its key and the fix.

    References
    ----------
    The defaults: Devlin et al. 2019, sec. 3.1 and appendix A.2, for a batch that fits a small machine.

    Examples
    --------
    >>> config = PretrainConfig(shards=("shards",), vocab="vocab.txt", out="run", model="mini", steps=50)
    >>> config.sizes(vocab_size=8192).d_model, config.warmup_steps
    (256, 5)
    """

    shards: tuple[str, ...]  # folders that `python -m bertlab shards` wrote
    out: str  # folder of the run: checkpoint, journal, and in the end the model
    steps: int
    vocab: str = ""  # vocab.txt of the shards; if not given, that of `start`, or of bert-base-uncased
    lowercase: bool = True
    model: str | dict[str, Any] = ""  # one of SIZES, or fields of a BertConfig, among them "size" if you like
    start: str = ""  # or go on from a published or trained BERT: a folder, or a name of `bertlab data`

    batch_size: int = 32  # examples in a step, of all processes together
    micro_batch: int = 0  # examples a process computes at a time; 0: all of its share of the batch
    max_length: int = 128  # positions of an example
    rate: float = 1e-4  # highest learning rate
    warmup: float = 0.1  # steps of the rise to it; below 1, a share of all steps
    weight_decay: float = 0.01
    clip: float = 1.0  # largest norm of the gradient
    dropout: float = 0.1  # of states and of attention weights
    seed: int = 0  # of weights, order, masks and dropout

    mask_rate: float = 0.15
    mask_shares: tuple[float, ...] = field(default=SHARES)  # [MASK], a random piece, the same
    whole_words: bool = False
    next_sentence: bool = True
    look_beside: bool = False  # new weights: heads of the first layer begin by looking at their neighbours

    bf16: bool = False  # compute in bfloat16, keep the weights in float32
    compile: bool = False  # let torch.compile fuse what it can: pays on a GPU

    report_every: int = 100  # steps between two lines of the journal
    save_every: int = 500  # steps between two checkpoints
    held_out: tuple[str, ...] = ()  # shards to measure the model on, at every report
    held_out_batches: int = 20  # so many batches of them

    def __post_init__(self) -> None:
        check_run(self, shortest=5)
        if bool(self.model) == bool(self.start):
            raise ConfigError(
                f"model = {self.model!r} and start = {self.start!r}: give one of them, `model` for new "
                "weights, `start` to go on from trained ones"
            )
        self._check_masking()
        if self.model:
            self.sizes(vocab_size=30_522)

    def _check_masking(self) -> None:
        if not self.mask_rate > 0:
            raise ConfigError(f"mask_rate = {self.mask_rate}: choose a share above 0, in BERT 0.15")
        try:
            check_chances(self.mask_rate, self.mask_shares)
        except ValueError as error:
            raise ConfigError(f"mask_{error}") from error

    @property
    def warmup_steps(self) -> int:
        """Number of steps of the warm-up."""
        return round(self.warmup * self.steps) if self.warmup < 1 else int(self.warmup)

    def sizes(self, vocab_size: int, pad_id: int = 0) -> BertConfig:
        """Give the sizes of a new model for a vocabulary."""
        wanted = {"size": self.model} if isinstance(self.model, str) else dict(self.model)
        for key in wanted:
            known = [f.name for f in fields(BertConfig) if f.name not in _ELSEWHERE]
            if key not in ("size", *known):
                raise ConfigError(f"model.{key} is unknown: {_close(key, ['size', *known])}")
        size = wanted.pop("size", "base")
        if size not in SIZES:
            raise ConfigError(f"model = {size!r} is no size: choose one of {', '.join(SIZES)}")
        told: dict[str, Any] = {"vocab_size": vocab_size, "pad_id": pad_id}
        told |= {"dropout": self.dropout, "attention_dropout": self.dropout}
        try:
            sizes: BertConfig = getattr(BertConfig, size)(**told, **wanted)
        except (ValueError, TypeError) as error:
            raise ConfigError(f"model: {error}") from error
        if sizes.max_positions < self.max_length:
            raise ConfigError(
                f"max_length = {self.max_length} is beyond the model's {sizes.max_positions} positions: "
                "choose less, or more max_positions in [model]"
            )
        return sizes

    def as_json(self) -> dict[str, Any]:
        """Give all keys with their values, tuples as lists."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Give the keys that may be left out, with what they are then."""
        known = {f.name: f.default for f in fields(cls) if f.default is not MISSING}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in known.items()}


def check_run(config: Any, shortest: int) -> None:
    """Refuse values that make no training, of the keys that every pre-training has.

    Parameters
    ----------
    config : a dataclass with these keys.
    shortest : least `max_length`.

    Raises
    ------
    ConfigError
        If a value makes no training; the sentence names its key and the fix.
    """
    least: dict[str, float] = {
        "steps": 1,
        "batch_size": 1,
        "micro_batch": 0,
        "max_length": shortest,
        "seed": 0,
        "weight_decay": 0,
    }
    least |= {"report_every": 1, "save_every": 1, "held_out_batches": 1, "warmup": 0}
    for key, smallest in least.items():
        if not getattr(config, key) >= smallest:
            raise ConfigError(f"{key} = {getattr(config, key)}: choose {smallest} or more")
    for key in ("rate", "clip"):
        if not getattr(config, key) > 0:
            raise ConfigError(f"{key} = {getattr(config, key)}: choose a number above 0")
    if not 0 <= config.dropout < 1:
        raise ConfigError(f"dropout = {config.dropout}: choose a probability from 0 to below 1")
    if config.warmup >= config.steps or (config.warmup > 1 and config.warmup % 1):
        raise ConfigError(
            f"warmup = {config.warmup} of steps = {config.steps}: choose a whole number of steps below that, "
            "or a share below 1"
        )
    if not config.shards or not config.out:
        key = "out" if config.shards else "shards"
        raise ConfigError(f"{key} is empty: name {'a folder' if config.shards else 'at least one folder'}")


def read_config(path: str | Path, kind: type[Config]) -> Config:
    """Read a configuration from a TOML file.

    Parameters
    ----------
    path : of the file.
    kind : dataclass whose fields are the keys, such as `PretrainConfig`.

    Raises
    ------
    ConfigError
        If there is no such file, it is no TOML, has a key that is unknown, lacks one, or a value is wrong.
    """
    path = Path(path)
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}): name a TOML file") from error
    except ValueError as error:
        raise ConfigError(f"{path} is no TOML file: {error}") from error
    try:
        return _from_table(told, kind)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _from_table(told: dict[str, Any], kind: type[Config]) -> Config:
    known = fields(kind)  # type: ignore[arg-type]
    hints, keys = get_type_hints(kind), [f.name for f in known]
    for key in told:
        if key not in keys:
            raise ConfigError(f"{key} is unknown: {_close(key, keys)}")
    for f in known:
        if f.default is MISSING and f.name not in told:
            raise ConfigError(f"{f.name} is missing: give {_kind(hints[f.name])}")
    return kind(**{key: _of_type(key, value, hints[key]) for key, value in told.items()})


def _of_type(key: str, value: Any, hint: Any) -> Any:
    """Give a value back in the type of its key, or refuse it; True is no number here."""
    name = _kind(hint)
    wrong = ConfigError(f"{key} = {value!r}: give {name}")
    if name.startswith("a list of"):
        one = get_args(hint)[0]
        items = [value] if isinstance(value, one) else value
        if not isinstance(items, list):
            raise wrong
        return tuple(_of_type(key, item, one) for item in items)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    accepted = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    plain = tuple(dict if kind not in (str, bool, int, float) else kind for kind in accepted)
    if not isinstance(value, plain) or (isinstance(value, bool) and bool not in plain):
        raise wrong
    return value


def _kind(hint: Any) -> str:
    """Say in words what a type is."""
    words = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false"}
    if hint in words:
        return words[hint]
    if isinstance(hint, types.UnionType):
        return f"one of {', '.join(SIZES)}, or a table of sizes"
    return f"a list of {'texts' if get_args(hint)[0] is str else 'numbers'}"


def _close(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(key, known, 1)
    return f"did you mean {near[0]}?" if near else f"the keys are {', '.join(known)}"
