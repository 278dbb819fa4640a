"""One rule after the other: training data and settings in, a model with certificates out.

- `TrainingData` and `Settings` are all that decides which model comes out;
- `Rounds`, made of them, is what all rounds of a fit share, and `State` a model on its way;
- `boost`, `polish` and `select` go from state to state.

Weights are fitted for one raw prediction per row or for several, such as one for each class, by the
same program.
"""

from laconic.boosting.polish import MAX_ROUNDS, Step, polish, select
from laconic.boosting.rounds import BarredRows, Found, Rounds, State, boost
from laconic.boosting.scale import UNSCALED, Scale, check_loss, scale_of
from laconic.boosting.settings import InitialRule, Settings
from laconic.boosting.training_data import TrainingData, counted

__all__ = [
    "MAX_ROUNDS",
    "UNSCALED",
    "BarredRows",
    "Found",
    "InitialRule",
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
