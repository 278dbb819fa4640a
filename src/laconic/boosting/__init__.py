"""Boosting: from training data and settings to a model with certificates.

- `TrainingData` and `Settings` determine the model;
- `Rounds`, made from them, holds what all rounds of a fit share, and `State` a model during a fit;
- `boost`, `polish` and `select` take a state and return another one.

The same program fits one raw prediction per row, or several, such as one for each class.
"""

from laconic.boosting.polish import MAX_ROUNDS, Step, polish, select
from laconic.boosting.rounds import Rounds, boost
from laconic.boosting.scale import UNSCALED, Scale, check_loss, scale_of
from laconic.boosting.settings import InitialTerm, Settings
from laconic.boosting.state import Barred, State
from laconic.boosting.training_data import TrainingData, counted

__all__ = [
    "MAX_ROUNDS",
    "UNSCALED",
    "Barred",
    "InitialTerm",
    "Rounds",
    "Scale",
    "Settings",
    "State",
    "Step",
    "TrainingData",
    "boost",
    "check_loss",
    "counted",
    "polish",
    "scale_of",
    "select",
]
