"""What a model is for: `Classification` and `Regression`, both a `Task`."""

from laconic.tasks.base import Metric, Task
from laconic.tasks.classification import Classification
from laconic.tasks.many_classes import ManyClasses
from laconic.tasks.regression import Regression

__all__ = ["TASKS", "Classification", "ManyClasses", "Metric", "Regression", "Task"]

TASKS: dict[str, type[Task]] = {task.name: task for task in (Classification, Regression)}
"""The tasks by name."""
