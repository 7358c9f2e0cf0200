"""Command `landbridge cost reproduce`: published cost models recomputed beside their printed values."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import Format, exit_code, print_findings, print_json

if TYPE_CHECKING:
    from landbridge.economics.published.model import PublishedModel
    from landbridge.economics.published.recompute import Recomputed
    from landbridge.findings import Finding

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
ModelFile = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="A published model as YAML; default: those of the catalogue.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(reproduce)


def reproduce(file: ModelFile = None, form: Form = Format.TEXT) -> None:
    """Recompute published cost models. Prints each printed value, its recomputation and the difference.

    Exits with 1 if a value does not follow from its inputs within the printed rounding and the file does not state it.
    The format: docs/how-to/reproduce-a-published-model.md. Example: landbridge cost reproduce table.yaml
    """
    from landbridge.economics.published.model_file import read_model
    from landbridge.economics.published.recompute import disagreements, recompute
    from landbridge.economics.published.shipped import shipped_models

    if file is None:
        texts = [(name, text.encode()) for name, text in shipped_models()]
    else:
        try:
            texts = [(str(file), file.read_bytes())]
        except OSError as error:
            typer.echo(f"landbridge: cannot read {file}: {error.strerror or error}", err=True)
            raise typer.Exit(2) from None
    results: list[tuple[PublishedModel, tuple[Recomputed, ...]]] = []
    findings: list[Finding] = []
    for name, text in texts:
        model, mistakes = read_model(text, name)
        findings += mistakes
        if model is not None:
            recomputed = recompute(model)
            findings += disagreements(model, recomputed)
            results.append((model, recomputed))
    if form is Format.JSON:
        models = [_as_data(model, recomputed) for model, recomputed in results]
        print_json({"models": models, "findings": [finding.to_dict() for finding in findings]})
    else:
        for model, recomputed in results:
            _print(model, recomputed)
        print_findings(findings)
    # A file that cannot be read as YAML is a mistake of the file, not of the call.
    raise typer.Exit(min(exit_code(findings), 1))


def _as_data(model: "PublishedModel", recomputed: "tuple[Recomputed, ...]") -> dict[str, Any]:
    return {
        "title": model.title,
        "source": model.origin,
        "date": model.published,
        "confidence": model.confidence,
        "rows": [
            {
                "name": item.row.name,
                "computes": item.row.computes,
                "point": item.point,
                "unit": item.unit,
                "printed": item.printed,
                "recomputed": item.recomputed,
                "difference": item.difference,
                "within_rounding": item.within_rounding,
                "disagreement": item.row.disagreement,
            }
            for item in recomputed
        ],
    }


def _print(model: "PublishedModel", recomputed: "tuple[Recomputed, ...]") -> None:
    from landbridge.economics.published.recompute import shown

    typer.echo(f"{model.title}\n  {model.origin}, {model.published}, {model.confidence}")
    width = max(len(item.row.name) for item in recomputed)
    for item in recomputed:
        point = "" if item.point is None else f" [{item.point + 1}]"
        state = "agrees" if item.within_rounding else "disagrees"
        reason = f": {item.row.disagreement}" if item.row.disagreement and not item.within_rounding else ""
        difference = "" if item.difference is None else shown(item.difference)
        numbers = f"{shown(item.printed):>14} {shown(item.recomputed):>16} {difference:>12} {item.unit:<12}"
        typer.echo(f"  {item.row.name + point:<{width + 4}} {numbers} {state}{reason}")
    typer.echo("")
