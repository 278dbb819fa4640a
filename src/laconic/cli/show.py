"""The command that shows a saved model."""

from __future__ import annotations

from laconic.cli import files, options, records, terminal
from laconic.terms.formatting import format_name, visible


def show(model: options.Model, /, *, json: options.Flag = False) -> None:
    """Show the rules of a saved model, what it was learned from, and its scores.

    Parameters
    ----------
    json : bool
        Write the model as JSON.
    """
    fitted = files.load_model(model)
    if json:
        terminal.write_model(fitted)
        return
    console = terminal.make_console()
    terminal.print_text(console, terminal.describe_model(fitted))
    terminal.print_text(console, f"{records.describe_record(fitted)}\n")
    console.print(terminal.rules_table(fitted), "", sep="\n")
    names = fitted.ensemble_.used_features
    listed = ", ".join(visible(format_name(name)) for name in names) or "none"
    terminal.print_text(
        console, f"Features in use ({len(names)} of {fitted.n_features_in_}): {listed}"
    )
    if (words := records.describe_whole(fitted)) is not None:
        terminal.print_text(console, words)
    records.print_scores(console, fitted)
