"""The command that proves how close a saved model comes to the best possible one."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from laconic.cli import options, table_file, terminal


def certify(
    model: options.Model,
    table: Path,
    /,
    *,
    target: str | None = None,
    weight: str | None = None,
    exposure: str | None = None,
    against: Literal["rules", "weight"] | None = None,
    time_limit: options.Seconds = None,
    by_size: options.Flag = False,
    save: options.Flag = False,
    json: options.Flag = False,
    format: options.Format = options.DEFAULT_FORMAT,
) -> None:
    """Prove how close a saved model comes to the best possible one on its training rows.

    Parameters
    ----------
    table : Path
        File that the model was trained on.
    target : str
        Column that the model predicts; without this option, the one that it was fitted to.
    weight : str
        Column with the weights of the rows; without this option, that of the fit.
    exposure : str
        Column with the exposures of the rows; without this option, that of the fit.
    against : str
        What to compare with: "rules" are models of as many rules with the same penalty, "weight"
        those whose weights add up to no more than the model's.
    time_limit : float
        Stop after that many seconds; what is proven by then is true.
    by_size : bool
        Prove something about the first 1, 2, ... rules as well, for the picture in the report.
    save : bool
        Keep the numbers in the file of the model, where "laconic report" finds them.
    json : bool
        Write numbers as JSON, for programs.
    """
    from laconic import save_model

    fitted, rows = table_file.model_and_rows(
        "certify", model, table, target, weight, exposure, format
    )
    with table_file.columns_by_name():
        certificate = fitted.certificate(
            **rows, against=against, by_size=by_size, time_limit=time_limit
        )
    n_known, n_found = getattr(fitted, "n_candidates_", None), certificate.n_candidates
    if n_known is not None and n_found != n_known:
        table_file.warn(
            [
                f"The model was made of {n_known} conditions, and this table gives {n_found}: it "
                "may not be the one that the model was trained on."
            ]
        )
    if save:
        fitted.certificate_ = certificate
        save_model(fitted, model)
    if json:
        terminal.write_json(certificate.to_dict())
        return
    terminal.print_text(terminal.make_console(), str(certificate))
