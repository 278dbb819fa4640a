"""What a model is for: `Classification` and `Regression`, both a `Task`."""

from laconic.models.tasks.base import Metric, Task
from laconic.models.tasks.classification import Classification
from laconic.models.tasks.regression import Regression

__all__ = ["TASKS", "Classification", "Metric", "Regression", "Task"]

TASKS: dict[str, type[Task]] = {task.name: task for task in (Classification, Regression)}
"""The tasks by name."""
