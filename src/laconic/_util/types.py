"""Names of array types that many modules use."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.intp]
Integers: TypeAlias = NDArray[np.int64]
