"""A fitted model on one page: a dictionary of what there is to say, rendered without a network."""

from laconic.report.page import Report, make_report

__all__ = ["Report", "make_report"]
