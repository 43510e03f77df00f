"""What can go wrong when data is fetched: three exceptions, each with one sentence that says what to do."""


class UnknownName(ValueError):
    """There is no data set, published model or file of that name."""


class DataUnavailable(OSError):
    """A file is nowhere to be had now: not in the cache, not in the mirror, not from its public address."""


class DataDamaged(ValueError):
    """Bytes arrived, but not the expected ones: their sha256 is another one."""
