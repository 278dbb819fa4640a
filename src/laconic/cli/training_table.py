"""Commands that go back to the training table of a saved model: certify, alternatives, edit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import cyclopts

import laconic
from laconic.cli import files, options, table_file, terminal
from laconic.cli.show import date_now, print_model, rules_table
from laconic.cli.terminal import CommandError
from laconic.terms.formatting import visible
from laconic.terms.record import FitRecord

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting

Numbers = Annotated[
    tuple[int, ...],
    cyclopts.Parameter(
        negative="", consume_multiple=True, show_default=False, converter=options.read_value
    ),
]
TrainingTable = Annotated[
    options.Place, cyclopts.Parameter(help="File that the model was fitted to.")
]


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Columns:
    """Columns of the training table that are no features.

    Parameters
    ----------
    target : str
        Column that the model predicts; by default, the target of the fit.
    weight : str
        Column with the weights of the rows; by default, that of the fit.
    exposure : str
        Column with the exposures of the rows; by default, that of the fit.
    """

    target: str | None = None
    weight: str | None = None
    exposure: str | None = None
    format: options.Format = options.DEFAULT_FORMAT

    def load(
        self, command: str, model: Path, table: Path | str
    ) -> tuple[RuleBoosting, dict[str, Any]]:
        """Load a model, and read the rows that it was fitted to as arguments of `fit`."""
        fitted = files.load_estimator_for(command, model, table)
        return fitted, self.arguments(fitted, table)

    def arguments(self, fitted: RuleBoosting, table: Path | str) -> dict[str, Any]:
        """Read rows as arguments of `fit`."""
        target = table_file.target_of(fitted, self.target)
        known: dict[str, Any] = {} if fitted.record_ is None else dict(fitted.record_.settings)
        names = [name for name in vars(self) if name not in ("target", "format")]
        named = {name: getattr(self, name) or known.get(name) for name in names}
        return table_file.TableFile(table, self.format).fit_arguments(fitted, target, **named)


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ColumnsWithGroups(Columns):
    """The same, with groups of rows.

    Parameters
    ----------
    groups : str
        Column that says which rows belong together, such as those of one patient, in all tables; by
        default, that of the fit.
    """

    groups: str | None = None


_AS_FITTED = Columns()
_WITH_GROUPS = ColumnsWithGroups()


def certify(
    model: options.Model,
    table: TrainingTable,
    /,
    *,
    columns: Columns = _AS_FITTED,
    against: Literal["rules", "weight"] | None = None,
    time_limit: options.Seconds = None,
    by_size: options.Flag = False,
    output: options.Output = None,
    json: options.Flag = False,
) -> None:
    """Prove how close a saved model comes to the best possible one on its training rows.

    Parameters
    ----------
    against : str
        Models to compare with: "rules" for all with as many terms and the same penalty, "weight"
        for all whose absolute weights add up to no more than the model's.
    time_limit : float
        Stop after that many seconds; what is proven by then holds.
    by_size : bool
        Also certify the first 1, 2, ... terms, for the figure in the report.
    output : Path
        File to save the model with its certificate to, for 'laconic report'; it may be that of the
        model.
    json : bool
        Write the certificate as JSON.
    """
    if output is not None:
        files.check_model_destination(output, table)
    fitted, rows = columns.load("certify", model, table)
    with table_file.short_warnings():
        certificate = fitted.certificate(
            **rows, against=against, by_size=by_size, time_limit=time_limit
        )
    n_known, n_found = getattr(fitted, "n_candidates_", None), certificate.n_candidates
    if n_known is not None and n_found != n_known:
        table_file.warn(
            [
                f"the model was fitted with {n_known} candidate conditions, and this table gives "
                f"{n_found}: it may not be the table that the model was fitted to."
            ]
        )
    if output is not None:
        fitted.certificate_ = certificate
        laconic.save_model(fitted, output)
    if json:
        terminal.write_json(certificate.to_dict())
    else:
        console = terminal.make_console()
        console.print(str(certificate))
        if output is not None:
            console.print(f"Saved to {visible(str(output))}")


def alternatives(
    model: options.Model,
    table: TrainingTable,
    /,
    *,
    columns: Columns = _AS_FITTED,
    term: options.Count | None = None,
    tolerance: options.ShareOrZero = 0.05,
    max_found: options.Count = 10,
    json: options.Flag = False,
) -> None:
    """List all terms that are nearly as good as the best one in the place of a term.

    Parameters
    ----------
    term : int
        Number of a term, from 1; by default, all terms.
    tolerance : float
        Fraction of the best gain that an alternative may fall short of it.
    max_found : int
        Largest number of alternatives to a term.
    json : bool
        Write the alternatives as JSON.
    """
    fitted, rows = columns.load("alternatives", model, table)
    numbers = range(1, len(fitted.ensemble_) + 1) if term is None else [term]
    console = terminal.make_console(quiet=json)
    found = []
    with table_file.short_warnings():
        for number in numbers:
            one = fitted.alternatives(number, **rows, tolerance=tolerance, max_found=max_found)
            found.append(one)
            console.print(f"{one}\n")
    if json:
        listed = [asdict(each) for each in found]
        for entry in listed:
            for each in entry["found"]:
                del each["form"]  # its text is there too
        terminal.write_json(listed)


def edit(
    model: options.Model,
    table: TrainingTable,
    /,
    *,
    columns: ColumnsWithGroups = _WITH_GROUPS,
    drop: Numbers = (),
    replace: options.Names = (),
    force: options.Names = (),
    lock: Numbers | None = None,
    n_terms: options.Count | None = None,
    output: options.Output = None,
    json: options.Flag = False,
) -> None:
    """Change terms of a saved model, refit the others, and show the cost of each edit.

    Terms are written as they are shown, such as 'age > 65 & sex == "f"' or 'age from 25 to 68', and
    counted from 1.

    Parameters
    ----------
    drop : tuple of int
        Numbers of terms to remove; they do not come back in other words.
    replace : tuple of str
        Numbers of terms with those that replace them, such as '2: income > 40'.
    force : tuple of str
        Terms that the model must have.
    lock : tuple of int
        Numbers of terms to keep while all others are searched again; by default, all that are
        neither dropped nor replaced.
    n_terms : int
        Number of terms of the new model; by default, as many as before.
    output : Path
        File to save the new model to, as JSON.
    json : bool
        Write the model to the standard output as JSON, and nothing else but warnings and errors.
    """
    if output is not None:
        files.check_model_destination(output, table)
    fitted, rows = columns.load("edit", model, table)
    with table_file.short_warnings():
        edited = fitted.edit(
            **rows,
            drop=drop,
            replace=dict(map(_replacement, replace)),
            force=force,
            lock=lock,
            n_terms=n_terms,
        )
    target = table_file.target_of(fitted, columns.target)
    settings = {} if fitted.record_ is None else fitted.record_.settings
    edited.record_ = FitRecord(target, len(rows["y"]), date_now(), settings)
    if fitted.reading_ is not None:
        edited.reading_ = fitted.reading_
    console = terminal.make_console(quiet=json)
    console.print()
    print_model(console, edited)
    console.print(rules_table(edited), "", f"{edited.edits_}\n", sep="\n")
    if output is None:
        console.print("Not saved. Save the model with --output edited.json.")
    else:
        laconic.save_model(edited, output)
        console.print(f"Saved to {visible(str(output))}")
    if json:
        terminal.write_model(edited)


def _replacement(text: str) -> tuple[int, str]:
    number, colon, term = text.partition(":")
    if not colon or not number.strip().isdecimal():
        raise CommandError(
            "--replace takes the number of a term and the new one, such as '2: income > 40'. "
            f"Got {text!r}."
        )
    return int(number), term.strip()
