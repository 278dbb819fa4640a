"""Questions to a fitted model that its proof does not answer, see `laconic.trust`."""

from __future__ import annotations

from laconic.models.rule_model import RuleModel


class TrustMixin(RuleModel):
    """Methods that ask how sure a model is."""
