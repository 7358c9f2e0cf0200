"""Command `landbridge pipeline check`: all findings of a pipeline's file and its scripts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, exit_code, load, print_findings, print_json
from landbridge.findings import Finding, FindingsError, has_errors, in_order

if TYPE_CHECKING:
    from landbridge.pipelines.runs.request import PipelineSource

PipelineFile = Annotated[Path, typer.Argument(metavar="FILE", help="File of the pipeline: pipelines/NAME.yaml.")]
Folder = Annotated[
    Path | None,
    typer.Option(help="Folder of the repository; default: the parent of the folder pipelines, else that of the file."),
]
Form = Annotated[Format, typer.Option("--format", help="Output format.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)


def check(
    path: PipelineFile,
    stack: Stack = None,
    file: File = None,
    folder: Folder = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of pipelines' files.")] = False,
    form: Form = Format.TEXT,
) -> None:
    """Check a pipeline's file and scripts.

    With -s the account, the owner and the data class are compared with the environment. Exit status: 0 without errors,
    1 with errors, 2 if the file cannot be read. Example: landbridge pipeline check pipelines/digits.yaml -s hybrid
    """
    if schema:
        from landbridge.pipelines.definition.schema import pipeline_schema

        print_json(pipeline_schema())
        return
    source, findings = checked(path, folder)
    if source is not None and (stack is not None or file is not None):
        from landbridge.pipelines.definition.read import read_pipeline
        from landbridge.pipelines.definition.rules import environment_findings

        loaded = load(stack, file)
        if loaded.environment is None:
            raise FindingsError(loaded.findings)
        placed = read_pipeline(path.read_bytes(), str(path))
        findings += [placed.at(each) for each in environment_findings(source.definition, loaded.environment)]
    findings = list(in_order(findings))
    if form is Format.JSON:
        print_json({"findings": [finding.to_dict() for finding in findings]})
    else:
        print_findings(findings)
        if not findings and source is not None:
            steps = len(source.definition.steps)
            typer.echo(f"{path}: no findings; {steps} step{'s' if steps != 1 else ''}")
    raise typer.Exit(exit_code(findings))


def checked(path: Path, folder: Path | None) -> "tuple[PipelineSource | None, list[Finding]]":
    """Return the pipeline with its scripts, and the findings; no pipeline if there is an error."""
    from landbridge.pipelines.definition.read import read_pipeline
    from landbridge.pipelines.definition.rules import script_findings
    from landbridge.pipelines.runs.request import PipelineSource

    try:
        text = path.read_bytes()
    except OSError as error:
        return None, [Finding("unreadable-file", f"cannot read it: {error.strerror}").at(str(path), 1, 1)]
    loaded = read_pipeline(text, str(path))
    findings = list(loaded.findings)
    if loaded.definition is None:
        return None, findings
    root = folder or (path.resolve().parent.parent if path.resolve().parent.name == "pipelines" else path.parent)
    scripts = {step.name: _script(root / step.script) for step in loaded.definition.steps}
    findings += [loaded.at(finding) for finding in script_findings(loaded.definition, scripts)]
    if has_errors(findings):
        return None, findings
    texts = {name: script for name, script in scripts.items() if script is not None}
    return PipelineSource(loaded.definition, str(root.resolve()), texts), findings


def _script(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
