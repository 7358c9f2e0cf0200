"""Commands `landbridge model show` and `history`."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from landbridge.cli.common import Format, print_findings, print_json
from landbridge.cli.model.common import Form, ModelName, Server, failures, open_registry

At = Annotated[
    str | None, typer.Option("--at", metavar="TIME", help="Aliases at this time (ISO 8601, UTC without an offset).")
]


def register(model: typer.Typer) -> None:
    """Add the commands."""
    model.command()(show)
    model.command()(history)


def show(name: ModelName, tracking_uri: Server, form: Form = Format.TEXT) -> None:
    """Show versions, aliases and lineage of a model.

    Example: landbridge model show digits
    """
    from landbridge.findings import Finding
    from landbridge.models.history import moved_elsewhere, read_history
    from landbridge.models.lineage import lineage_of_tags
    from landbridge.models.version_tags import CLASS_TAG, SIGNATURE_TAG

    with failures():
        registry = open_registry(tracking_uri)
        aliases, versions = registry.aliases(name), registry.versions(name)
        records, faults = read_history(registry.tags(name))
        deleted = registry.deleted_runs(versions)
    unreadable = [
        Finding(
            "model-folder",
            f"the run of {name}/{each.version} was deleted, and its files cannot be read",
            fix=f"mlflow runs restore --run-id {each.run}, or restore its experiment, before mlflow gc",
        )
        for each in versions
        if each.run in deleted
    ]
    findings = (*faults, *moved_elsewhere(records, aliases), *unreadable)
    rows: list[dict[str, Any]] = [
        {
            "version": each.version,
            "aliases": sorted(alias for alias, version in aliases.items() if version == each.version),
            "data_class": each.tags.get(CLASS_TAG, ""),
            "complete": bool(each.digest),
            "deleted": each.run in deleted,
            "signed": SIGNATURE_TAG in each.tags,
            "lineage": lineage_of_tags(each.tags).to_dict(),
        }
        for each in versions
    ]
    if form is Format.JSON:
        print_json({"name": name, "versions": rows, "findings": [finding.to_dict() for finding in findings]})
    else:
        for row in rows:
            state = (
                "deleted"
                if row["deleted"]
                else "signed"
                if row["signed"]
                else "not signed"
                if row["complete"]
                else "not complete"
            )
            typer.echo(
                f"{name}/{row['version']:<5} {state:<12} {row['data_class']:<12} {' '.join(row['aliases'])}".rstrip()
            )
            for key, value in row["lineage"].items():
                typer.echo(f"    {key:<10} {value}")
        print_findings(findings)
    raise typer.Exit(1 if findings else 0)


def history(name: ModelName, tracking_uri: Server, at: At = None, form: Form = Format.TEXT) -> None:
    """List the moves of a model's aliases.

    With --at it shows the version of each alias at that time. Exit status 1: a record was changed or is missing.

    Example: landbridge model history digits --at 2026-11-20
    """
    from landbridge.models.history import aliases_at, read_history
    from landbridge.timestamps import parse_iso

    moment = parse_iso(at) if at is not None else None
    if at is not None and moment is None:
        raise typer.BadParameter(f'"{at}" is not a time of ISO 8601', param_hint="--at")
    with failures():
        records, findings = read_history(open_registry(tracking_uri).tags(name))
    versions = aliases_at(records, moment) if moment is not None else {}
    if form is Format.JSON:
        answer = {"aliases": versions} if moment is not None else {"records": [asdict(record) for record in records]}
        print_json({"name": name, **answer, "findings": [finding.to_dict() for finding in findings]})
    elif moment is not None:
        for alias, version in versions.items():
            typer.echo(f"{alias:<10} {version}")
    else:
        for record in records:
            place = f"{record.alias} {record.before or 'none'} → {record.after or 'none'}"
            typer.echo(f"{record.at}  {record.account:<12} {place:<24} {record.reason}".rstrip())
    if form is Format.TEXT:
        print_findings(findings)
    raise typer.Exit(1 if findings else 0)
