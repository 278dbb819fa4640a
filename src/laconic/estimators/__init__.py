"""The scikit-learn estimators, one per task."""
