"""The format of the answers that a model file keeps, see `laconic.trust`."""

from __future__ import annotations

from laconic._util.json_format import Object
from laconic.trust import Trust

TRUST = Object({}, Trust, "What is known about the model besides its proof, where it was asked.")
