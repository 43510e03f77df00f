"""Every data test has a cache of its own and no way out to the network."""

from tests.datasets.support import cache, left, manifest, real_mirror, server

__all__ = ["cache", "left", "manifest", "real_mirror", "server"]
