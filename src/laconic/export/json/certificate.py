"""How close a model comes to the best possible one, as a file tells it: without the proof."""

from __future__ import annotations

from typing import Any

from laconic._checks import require
from laconic.data.entries import (
    check_has,
    check_keys,
    read_amount,
    read_choice,
    read_list,
    read_whole,
)
from laconic.model.rules import RuleEnsemble
from laconic.relaxation import EnsembleCertificate, Rivals, SameRules, SameWeight, Size
from laconic.search import SearchStatus

_PATH = "certificate"
_NUMBERS = ("objective", "start", "bound", "min_coverage", "seconds")
_COUNTS = ("n_propositions", "n_rows", "n_nodes", "n_searches")
_RIVALS = {"rules": ("n_rules", "l2_regularization"), "weight": ("total_weight",)}
# They follow from the numbers.
_DERIVED = ("share", "trivial_share")


def certificate_to_dict(certificate: EnsembleCertificate) -> dict[str, Any]:
    """Describe a certificate by plain values."""
    return {name: value for name, value in certificate.to_dict().items() if name not in _DERIVED}


def read_certificate(data: Any, ensemble: RuleEnsemble) -> EnsembleCertificate:
    """Read what `certificate_to_dict` returned, and refuse what is missing, unknown or wrong."""
    require(isinstance(data, dict), _PATH, "a JSON object", data)
    check_has(data, _PATH, ("against",))
    against = read_choice(data["against"], f"{_PATH}.against", _RIVALS)
    others = ("against", "max_conditions", "status", "sizes", *_RIVALS[against])
    check_keys(data, _PATH, (*_NUMBERS, *_COUNTS, *others))
    longest = data["max_conditions"]
    numbers: dict[str, Any] = {
        name: read_amount(data[name], f"{_PATH}.{name}") for name in _NUMBERS
    }
    counts: dict[str, Any] = {name: read_whole(data[name], f"{_PATH}.{name}") for name in _COUNTS}
    return EnsembleCertificate(
        ensemble=ensemble,
        rivals=_read_rivals(data, against),
        max_conditions=None if longest is None else read_whole(longest, f"{_PATH}.max_conditions"),
        status=SearchStatus(read_choice(data["status"], f"{_PATH}.status", list(SearchStatus))),
        sizes=tuple(read_list(data["sizes"], f"{_PATH}.sizes", _read_size)),
        **numbers,
        **counts,
    )


def _read_rivals(data: Any, against: str) -> Rivals:
    if against == "weight":
        return SameWeight(read_amount(data["total_weight"], f"{_PATH}.total_weight"))
    penalty = read_amount(data["l2_regularization"], f"{_PATH}.l2_regularization")
    return SameRules(read_whole(data["n_rules"], f"{_PATH}.n_rules"), penalty)


def _read_size(data: Any, path: str) -> Size:
    check_keys(data, path, ("objective", "bound"))
    return Size(*(read_amount(data[name], f"{path}.{name}") for name in ("objective", "bound")))
