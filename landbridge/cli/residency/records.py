"""Commands `landbridge residency records`: verification of the signed records of placements, and the key that signs them."""

from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Folder = Annotated[Path, typer.Argument(help="Folder of records-*.jsonl, or a copy of it.")]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--public-key", help="Public key of the site, as `records key` prints it; repeat it after a rotation."
    ),
]
Expected = Annotated[
    str | None,
    typer.Option("--expect", help="NUMBER:DIGEST of a last record that an earlier verification printed."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    records = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Signed records of placements: verification, and their key."
    )
    records.callback()(lambda: None)
    records.command()(verify)
    records.command()(key)
    app.add_typer(records, name="records")


def verify(
    folder: Folder,
    stack: Stack = None,
    file: File = None,
    public_key: Keys = None,
    expect: Expected = None,
    form: Form = Format.TEXT,
) -> None:
    """Verify the residency records of a controller.

    Each line has a number, the digest of the line before it, and a signature: a record that was removed, changed, added or moved is a finding with its line. Records that were removed from the end are found with
    --expect only. The keys are --public-key, else the key in the environment's store of secrets. Exit status: 0 verified, 1 findings, 2 could not run.
    Example: landbridge residency records verify -s hybrid /var/lib/landbridge/residency-records
    """
    from landbridge.burst.journal.signed_records import Head
    from landbridge.burst.journal.verify_records import verify as verified
    from landbridge.findings import Finding

    head = None
    if expect is not None:
        number, _, digest = expect.partition(":")
        if not number.isdigit() or not digest:
            raise typer.BadParameter("it has the form NUMBER:DIGEST", param_hint="--expect")
        head = Head(int(number), digest)
    if not folder.is_dir():
        typer.echo(f"error: {folder} is not a folder", err=True)
        raise typer.Exit(2)
    result = verified(folder, public_key or [_public_key(stack, file)], head)
    findings = [
        Finding("residency-records", fault.text).at(str(fault.file), fault.line or None, None)
        for fault in result.faults
    ]
    if form is Format.JSON:
        last = {"number": result.head.number, "digest": result.head.digest}
        print_json({"last": last, "keys": list(result.keys), "findings": [row.to_dict() for row in findings]})
        raise typer.Exit(1 if findings else 0)
    for finding in findings:
        typer.echo(str(finding))
    state = f"{len(findings)} findings" if findings else "verified"
    typer.echo(f"{result.head.number} records, {state}; last record {result.head.number}:{result.head.digest}")
    raise typer.Exit(1 if findings else 0)


def key(stack: Stack = None, file: File = None) -> None:
    """Print the public key of the site's residency records.

    A person without the site's secrets verifies the records with it. Example: landbridge residency records key -s hybrid
    """
    typer.echo(_public_key(stack, file))


def _public_key(stack: str | None, file: Path | None) -> str:
    from landbridge.burst.journal.signed_records import public_text, signing_key
    from landbridge.cli.secrets.common import environment_and_store
    from landbridge.ops.secrets.cipher import SecretsError

    environment, store = environment_and_store(stack, file)
    try:
        secret = store.read().get("records-key")
    except (SecretsError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    if secret is None:
        typer.echo(f"error: {store.place} has no records-key: landbridge secrets init -s {environment.name}", err=True)
        raise typer.Exit(2)
    return public_text(signing_key(secret))
