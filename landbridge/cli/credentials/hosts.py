"""Commands `landbridge credentials status`, `renew`, `issue` and `import`: certificates of hosts."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, environment_path, print_json, require

if TYPE_CHECKING:
    from landbridge.environment import Environment

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Limit = Annotated[str | None, typer.Option("--limit", "-l", help="Only these hosts, in Ansible's pattern syntax.")]
Host = Annotated[str, typer.Argument(help="Name of the host, as in the environment file.", metavar="HOST")]
Request = Annotated[Path, typer.Option("--request", help="Certificate request of the host, in PEM.")]
Output = Annotated[Path | None, typer.Option("--output", help="File for the certificate. Default: standard output.")]
Certificates = Annotated[list[Path], typer.Argument(help="Certificates in PEM, one for each host.", metavar="FILES")]


def register(credentials: typer.Typer) -> None:
    """Add the commands."""
    credentials.command()(status)
    credentials.command()(renew)
    credentials.command()(issue)
    credentials.command("import")(take)


def status(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """List the CA and the certificates of hosts, with the end of each.

    Exit status 1: a certificate is missing, has expired, or ends within aws.iam.anywhere.alarm_days.

    Example: landbridge credentials status -s acme --format json
    """
    from landbridge.certificates import authority_end
    from landbridge.ops.credentials.folder import AuthorityFolder
    from landbridge.ops.credentials.status import host_states

    environment = _with_anywhere(stack, file)
    anywhere = environment.aws.iam.anywhere
    assert anywhere is not None
    folder = AuthorityFolder.of(environment.name)
    states = host_states(environment, folder, datetime.now(UTC))
    known = authority_end(anywhere.certificate)
    end = known[1] if known is not None else None
    requests = [str(path) for path in folder.requests()]
    if form is Format.JSON:
        print_json({
            "authority": {"not_after": end.isoformat() if end else None, "key": folder.key.exists()},
            "hosts": [state.to_dict() for state in states],
            "requests": requests,
        })  # fmt: skip
    else:
        place = folder.key if folder.key.exists() else "not on this machine"
        typer.echo(f"CA: valid until {end:%F}; key: {place}" if end else "CA: the certificate cannot be read")
        for state in states:
            when = f"until {state.not_after:%F}, serial {state.serial}" if state.not_after else ""
            typer.echo(f"{state.host:<20} {state.state:<8} {when}".rstrip())
        for request in requests:
            typer.echo(f"to be signed with the CA's key: {request}")
    if any(state.state in ("missing", "ending", "expired") for state in states):
        raise typer.Exit(1)


def renew(stack: Stack = None, file: File = None, limit: Limit = None, form: Form = Format.TEXT) -> None:
    """Renew the certificate of every host now, with a new key.

    The keys are created on the hosts. `landbridge configure` renews only certificates that are due.

    Example: landbridge credentials renew -s acme --limit ctl01
    """
    from landbridge.cli.configure import report
    from landbridge.cli.display.configure import ConfigureDisplay
    from landbridge.realise import configure as realise

    environment, started = _with_anywhere(stack, file), time.monotonic()
    with ConfigureDisplay(environment.name) as show:
        result = realise.configure(
            environment,
            environment_path(stack, file),
            show,
            limit=limit,
            tags="credentials",
            variables={"roles_anywhere_renew": True},
        )
    report(result, time.monotonic() - started, form)


def issue(host: Host, request: Request, stack: Stack = None, file: File = None, output: Output = None) -> None:
    """Sign the request of one host by hand.

    `landbridge configure` does this by itself.

    Example: landbridge credentials issue ctl01 --request ctl01.csr --output ctl01.pem -s acme
    """
    from landbridge.certificates import CertificateError
    from landbridge.ops.credentials.folder import AuthorityFolder

    environment = _with_anywhere(stack, file)
    anywhere = environment.aws.iam.anywhere
    assert anywhere is not None
    folder = AuthorityFolder.of(environment.name)
    try:
        text = request.read_bytes()
        certificate = folder.issue(host, text, datetime.now(UTC), anywhere.certificate_days)
    except (CertificateError, OSError) as error:
        raise _failed(error) from None
    if certificate is None:
        raise _failed(
            "the CA's key is not on this machine: sign the request with it, then landbridge credentials import"
        )
    if output is None:
        typer.echo(certificate.decode(), nl=False)
    else:
        output.write_bytes(certificate)
        typer.echo(f"{output}: certificate of {host} for {anywhere.certificate_days} days")


def take(certificates: Certificates, stack: Stack = None, file: File = None) -> None:
    """Take certificates that were signed elsewhere.

    The next `landbridge configure` installs them.

    Example: landbridge credentials import ctl01.pem mlops01.pem -s acme
    """
    from landbridge.certificates import CertificateError
    from landbridge.ops.credentials.folder import AuthorityFolder
    from landbridge.plan.roles.hosts.roles_anywhere import credential_hosts

    environment = _with_anywhere(stack, file)
    folder, failed = AuthorityFolder.of(environment.name), False
    for path in certificates:
        try:
            host = folder.take(path.read_bytes(), credential_hosts(environment), datetime.now(UTC))
            typer.echo(f"{path}: certificate of {host}")
        except (CertificateError, OSError) as error:
            typer.echo(f"error: {path}: {error}", err=True)
            failed = True
    if failed:
        raise typer.Exit(1)


def _with_anywhere(stack: str | None, file: Path | None) -> "Environment":
    """Return the checked environment. If it does not use IAM Roles Anywhere, print an error and exit."""
    from landbridge.plan.roles.hosts.roles_anywhere import roles_anywhere

    environment = require(stack, file)
    if roles_anywhere(environment) is None:
        raise _failed(
            "the on-prem services of this environment do not use IAM Roles Anywhere: "
            f"landbridge credentials init -s {environment.name} sets it up"
        )
    return environment


def _failed(reason: object) -> typer.Exit:
    typer.echo(f"error: {reason}", err=True)
    return typer.Exit(1)
