"""What the tests of queries and rules share: one table of every kind, and conditions on it."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from laconic import Condition

COLUMNS = {
    "age": [35.0, None, 20.0, 28.0],
    "mark": ["x", "o", None, "b"],
    "member": [True, False, None, True],
}

TABLES = {
    "numpy": np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object),
    "pandas": pd.DataFrame(COLUMNS),
    "pandas category": pd.DataFrame(COLUMNS).astype({"mark": "category"}),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
}

X_IS = Condition("mark", "==", "x")
YOUNG = Condition("age", "<=", 28)
OLD = Condition("age", ">", 28)
