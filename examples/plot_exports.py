"""
From the model to the database
==============================

A model of a few rules is a few lines of SQL. The export is run and compared with the model before
it is handed out.
"""

import duckdb
from sklearn.datasets import load_iris

from laconic import RuleBoostingClassifier
from laconic.export import to_python, to_sql

X, y = load_iris(as_frame=True, return_X_y=True)
model = RuleBoostingClassifier(n_rules=2).fit(X, (y == 2).map({True: "virginica", False: "other"}))
print(model)

# %%
# As SQL:
query = to_sql(model, dialect="duckdb", table="X")
print(query)

# %%
# In a database, here DuckDB, which reads the data frame:
print(duckdb.sql(query).df().head())

# %%
# As a Python module that needs nothing else:
print(to_python(model)[:600])
