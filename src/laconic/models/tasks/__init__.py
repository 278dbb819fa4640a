"""Tasks of models: `Classification` and `Regression`."""

from laconic.models.tasks.base import Metric, Task
from laconic.models.tasks.classification import Classification
from laconic.models.tasks.regression import Regression

__all__ = ["TASKS", "Classification", "Metric", "Regression", "Task"]

TASKS: dict[str, type[Task]] = {task.name: task for task in (Classification, Regression)}
"""The tasks by name."""
