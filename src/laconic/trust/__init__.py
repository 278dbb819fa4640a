"""What the proof of a model does not say: chance, effects on unseen rows, stability, intervals.

A term is the best one for its training rows. Each file here answers one further question, by a
function that takes training data or a way to fit again, and returns an answer: a dataclass of plain
values, which says of itself what it is in words. `Trust` holds the answers that a model keeps.
"""

from laconic.trust.answers import Trust
from laconic.trust.intervals import Intervals

__all__ = ["Intervals", "Trust"]
