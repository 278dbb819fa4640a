"""Names of array types that many modules use."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Values: TypeAlias = NDArray[Any]
"""Values of a term in the rows: bools for a rule, floats for a slope."""
Indices: TypeAlias = NDArray[np.intp]
Integers: TypeAlias = NDArray[np.int64]
