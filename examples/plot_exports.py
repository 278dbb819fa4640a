"""
Export a model to SQL and Python
================================

A model of a few terms is a few lines of SQL. The export is run and compared with the model before
it is returned.
"""

import duckdb
from sklearn.datasets import load_iris

from laconic import RuleBoostingClassifier
from laconic.export import to_python, to_sql
from laconic.plot import RuleBoxDisplay

X, y = load_iris(as_frame=True, return_X_y=True)
flower = (y == 2).map({True: "virginica", False: "other"})
model = RuleBoostingClassifier(n_terms=2).fit(X, flower)
print(model)

# %%
# The model as SQL:
query = to_sql(model, dialect="duckdb", table="X")
print(query)

# %%
# Run it in DuckDB, which reads data frames directly:
print(duckdb.sql(query).df().head())

# %%
# The probabilities agree to double precision:
probabilities = duckdb.sql(query).df()["probability"].to_numpy()
print(f"largest difference {abs(probabilities - model.predict_proba(X)[:, 1]).max():.0e}")

# %%
# The model as a Python module without dependencies, applied to a row as a dictionary:
module: dict = {}
exec(to_python(model), module)
print(module["predict"](X.iloc[100].to_dict()))

# %%
# The two terms and the flowers, in the plane of two features:
RuleBoxDisplay.from_estimator(
    model, X, flower, features=["petal length (cm)", "petal width (cm)"]
).ax_.set_title("The exported model")
