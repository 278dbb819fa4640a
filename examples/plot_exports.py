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
from laconic.plot import RuleBoxDisplay

X, y = load_iris(as_frame=True, return_X_y=True)
flower = (y == 2).map({True: "virginica", False: "other"})
model = RuleBoostingClassifier(n_rules=2).fit(X, flower)
print(model)

# %%
# As SQL:
query = to_sql(model, dialect="duckdb", table="X")
print(query)

# %%
# In a database, here DuckDB, which reads the data frame:
print(duckdb.sql(query).df().head())

# %%
# The same probabilities, to the last digit that a double has:
probabilities = duckdb.sql(query).df()["probability"].to_numpy()
print(f"largest difference {abs(probabilities - model.predict_proba(X)[:, 1]).max():.0e}")

# %%
# As a Python module that needs nothing else, for a row as a dictionary:
module: dict = {}
exec(to_python(model), module)
print(module["predict"](X.iloc[100].to_dict()))

# %%
# The two rules and the flowers, in the plane of what they speak of:
RuleBoxDisplay.from_estimator(
    model, X, flower, features=["petal length (cm)", "petal width (cm)"]
).ax_.set_title("The model that was exported")
