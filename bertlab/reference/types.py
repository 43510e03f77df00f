"""Array types of the reference wing, and the letters that its shapes are written with.

B batch, T positions (Tq of the queries, Tk of the keys when they differ), D model width, H heads, K width of
a head, F width inside a feed-forward network, A width of a scoring network, V vocabulary, L layers. Batch
comes first; ``(...)`` are any leading axes.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.integer]
Bools: TypeAlias = NDArray[np.bool_]
