"""Command `landbridge credentials init`: the CA of an environment."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import (
    File,
    Format,
    Stack,
    environment_path,
    environment_text,
    exit_code,
    load,
    print_findings,
    print_json,
    write_environment,
)

if TYPE_CHECKING:
    from landbridge.ops.credentials.folder import AuthorityFolder

Certificate = Annotated[
    Path | None, typer.Option("--ca-certificate", help="Certificate of an existing CA, in PEM. Default: a new CA.")
]
Key = Annotated[
    Path | None,
    typer.Option(
        "--ca-key", help="Private key of that CA; a link to it is kept. Without it, requests are signed elsewhere."
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace the present CA; all hosts need new certificates.")]
Print = Annotated[bool, typer.Option("--print", help="Print the certificate; do not change the environment file.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(credentials: typer.Typer) -> None:
    """Add the command."""
    credentials.command()(init)


def init(
    stack: Stack = None,
    file: File = None,
    ca_certificate: Certificate = None,
    ca_key: Key = None,
    replace: Replace = False,
    only_print: Print = False,
    form: Form = Format.TEXT,
) -> None:
    """Create a CA, or take an existing one, for IAM Roles Anywhere.

    Its certificate is written into the environment file. The key stays in the environment's secrets folder on this machine. Repeating the command changes nothing.

    Example: landbridge credentials init -s acme
    """
    from landbridge.certificates import CertificateError
    from landbridge.ops.credentials.folder import AuthorityFolder

    if ca_key is not None and ca_certificate is None:
        raise typer.BadParameter("give the CA's certificate too", param_hint="--ca-certificate")
    path = environment_path(stack, file)
    loaded = load(stack, file)
    if loaded.environment is None:
        print_findings(loaded.findings)
        raise typer.Exit(exit_code(loaded.findings))
    folder, now = AuthorityFolder.of(loaded.environment.name), datetime.now(UTC)
    try:
        is_new = replace or not folder.certificate.is_file()
        if not is_new:
            _same_authority(folder, ca_certificate)
            certificate = folder.certificate.read_text()
        elif ca_certificate is not None:
            certificate = folder.adopt(ca_certificate, ca_key, now)
        else:
            certificate = folder.create(f"{loaded.environment.name} on-prem hosts", now)
    except (CertificateError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    changed = False if only_print else _write(path, certificate)
    _report(folder, path, certificate, is_new, changed, only_print, form)


def _same_authority(folder: "AuthorityFolder", ca_certificate: Path | None) -> None:
    from landbridge.certificates import CertificateError

    if ca_certificate is not None and ca_certificate.read_text().strip() != folder.certificate.read_text().strip():
        raise CertificateError(f"{folder.path} already has a different CA: --replace replaces it")


def _write(path: Path, certificate: str) -> bool:
    """Write the certificate into the environment file; return whether the file has changed."""
    from landbridge.environment.file.authority import with_authority

    text = environment_text(path)
    changed = with_authority(text, str(path), certificate)
    if changed != text:
        write_environment(path, changed)
    return changed != text


def _report(
    folder: "AuthorityFolder",
    path: Path,
    certificate: str,
    is_new: bool,
    changed: bool,
    only_print: bool,
    form: Format,
) -> None:
    has_key = folder.key.exists()
    if form is Format.JSON:
        print_json({
            "folder": str(folder.path),
            "created": is_new,
            "key": has_key,
            "file_changed": changed,
            "certificate": certificate,
        })  # fmt: skip
        return
    if only_print:
        typer.echo(certificate, nl=False)
        return
    key = f"its key is in {folder.key}: keep a copy in a safe place" if has_key else "its key is not on this machine"
    typer.echo(f"{'new CA' if is_new else 'present CA'}: {folder.certificate}; {key}")
    typer.echo(f"{path}: {'aws.iam.anywhere.certificate is written' if changed else 'unchanged'}")
    typer.echo(
        "next: `landbridge up` creates the trust anchor, then `landbridge configure` gives each host its certificate"
    )
