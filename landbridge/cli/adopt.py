"""Command `landbridge adopt`: add bursting to a Slurm that runs already."""

import re
from collections import Counter
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from landbridge.cli.common import Format, exit_code, print_json
from landbridge.findings import Finding, FindingsError, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from landbridge.existing_slurm.adopt import AdoptResult
    from landbridge.existing_slurm.request import AdoptRequest, PoolRequest

_Value = TypeVar("_Value")
_POOL = re.compile(r"([a-z][a-z0-9-]*)=([a-z0-9-]+\.[a-z0-9-]+):([1-9][0-9]{0,4})")
_RELEASE = re.compile(r"(\d\d\.\d\d)(?:\.\d+)?")
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")

Conf = Annotated[Path, typer.Argument(metavar="SLURM_CONF", help="slurm.conf; its other files are read beside it.")]
Name = Annotated[str, typer.Option("--name", help="The new environment's name.")]
Owner = Annotated[str, typer.Option("--owner", help="Mail address of the owner.")]
Region = Annotated[str, typer.Option("--region", help="The AWS region.")]
SlurmRelease = Annotated[
    str, typer.Option("--slurm", help="Release of the cluster, as slurmctld -V prints it: 24.11.5.")
]
OnPremCidr = Annotated[str, typer.Option("--onprem-cidr", help="CIDR of the site.")]
AwsCidr = Annotated[str, typer.Option("--aws-cidr", help="CIDR of the VPC; nothing else may use it.")]
Pools = Annotated[
    list[str], typer.Option("--pool", metavar="NAME=TYPE:NODES", help="Pool, such as p5=p5.48xlarge:8; repeatable.")
]
Accounts = Annotated[
    list[str] | None,
    typer.Option("--account", metavar="NAME[=CLASS]", help="Slurm account that may use AWS, and its data class."),
]
Gateway = Annotated[str, typer.Option("--gateway", help="Host that ends the tunnels; Landbridge configures it.")]
GatewayAddress = Annotated[str, typer.Option("--gateway-address", help="Public address of the gateway.")]
Asn = Annotated[int, typer.Option("--asn", help="BGP AS number of the site.")]
Uid = Annotated[int, typer.Option("--slurm-uid", help="Uid of the account slurm, as `id -u slurm` prints it.")]
Logins = Annotated[list[str] | None, typer.Option("--login", metavar="HOST", help="Login host; repeatable.")]
Home = Annotated[
    str | None, typer.Option("--home", metavar="SERVER:/EXPORT", help="Home directories for nodes in AWS.")
]
HostsFile = Annotated[
    Path | None, typer.Option("--hosts", metavar="FILE", help="Addresses of hosts, in the format of /etc/hosts.")
]
Budget = Annotated[int | None, typer.Option("--monthly-usd", min=1, help="Hard budget in USD for each month.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FOLDER", help="Folder of the results; default: adopt-NAME.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(adopt)


def adopt(
    conf: Conf,
    name: Name,
    owner: Owner,
    region: Region,
    slurm: SlurmRelease,
    onprem_cidr: OnPremCidr,
    aws_cidr: AwsCidr,
    pool: Pools,
    gateway: Gateway,
    gateway_address: GatewayAddress,
    slurm_uid: Uid,
    account: Accounts = None,
    asn: Asn = 65010,
    login: Logins = None,
    home: Home = None,
    hosts: HostsFile = None,
    monthly_usd: Budget = None,
    out: Out = None,
    form: Form = Format.TEXT,
) -> None:
    """Add bursting to a Slurm that runs already.

    Reports obstacles, and writes an environment file, files for Slurm, and the way back. Changes nothing of the cluster, and
    overwrites no file. Exit status: 0 written, 1 obstacles, 2 could not run.
    Example: landbridge adopt /etc/slurm/slurm.conf --name acme --slurm 24.11.5 --slurm-uid 64030 --region us-east-1
    --owner ml@acme.com --onprem-cidr 10.20.0.0/16 --aws-cidr 10.60.0.0/16 --pool p5=p5.48xlarge:8 --account vision
    --gateway gw01 --gateway-address 203.0.113.10 --hosts /etc/hosts
    """
    from landbridge.existing_slurm.adopt import adopt as adopted
    from landbridge.existing_slurm.request import AdoptRequest, hosts_file

    if not conf.is_file():
        raise typer.BadParameter(f"{conf} is not a file", param_hint="SLURM_CONF")
    if hosts is not None and not hosts.is_file():
        raise typer.BadParameter(f"{hosts} is not a file", param_hint="--hosts")
    request = AdoptRequest(
        name=name,
        owner=owner,
        region=region,
        release=_parsed("--slurm", slurm, _release),
        onprem_cidr=_parsed("--onprem-cidr", onprem_cidr, IPv4Network),
        aws_cidr=_parsed("--aws-cidr", aws_cidr, IPv4Network),
        pools=tuple(_parsed("--pool", text, _pool) for text in pool),
        accounts={key: value or "internal" for key, _, value in (text.partition("=") for text in account or ())},
        gateway=_parsed("--gateway", gateway, _host),
        gateway_address=_parsed("--gateway-address", gateway_address, IPv4Address),
        asn=asn,
        uid=slurm_uid,
        logins=tuple(_parsed("--login", text, _host) for text in login or ()),
        home=None if home is None else _parsed("--home", home, _export),
        monthly_usd=monthly_usd,
        addresses={} if hosts is None else hosts_file(hosts.read_text(errors="replace")),
    )
    result = adopted(str(conf), _text, request)
    folder = out or Path(f"adopt-{name}")
    written = [] if result.files is None else _write(folder, request, result)
    _report(result, written, form)
    raise typer.Exit(exit_code(result.findings))


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None


def _write(folder: Path, request: "AdoptRequest", result: "AdoptResult") -> list[Path]:
    """Write all files into a new folder, and return their paths."""
    files: Mapping[str, str] = {f"Pulumi.{request.name}.yaml": result.environment, **(result.files or {})}
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        fix = "choose another folder with --out, or remove it first"
        raise FindingsError([Finding("already-there", f"{folder} already exists", (), fix)]) from None
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8", errors="surrogateescape")
    return [folder / file for file in files]


def _report(result: "AdoptResult", written: list[Path], form: Format) -> None:
    from landbridge.cli.display.excerpt import print_with_lines

    counts = Counter(finding.severity for finding in result.findings)
    if form is Format.JSON:
        data: dict[str, Any] = {f"{severity.value}s": counts[severity] for severity in Severity}
        findings = [finding.to_dict() for finding in result.findings]
        print_json({**data, "findings": findings, "files": [str(path) for path in written]})
        return
    for finding in result.findings:
        print_with_lines([finding], None if finding.file is None else Path(finding.file))
    for path in written:
        typer.echo(f"wrote {path}")
    if not written:
        typer.echo(f"no file was written: {counts[Severity.ERROR]} obstacles", err=True)


def _parsed(option: str, text: str, parse: "Callable[[str], _Value]") -> _Value:
    try:
        return parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _release(text: str) -> str:
    match = _RELEASE.search(text)
    if match is None:
        raise ValueError(f'"{text}" is not a release of Slurm such as 24.11.5')
    return match[0]


def _pool(text: str) -> "PoolRequest":
    from landbridge.existing_slurm.request import PoolRequest

    match = _POOL.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is not NAME=TYPE:NODES, such as p5=p5.48xlarge:8')
    return PoolRequest(match[1], match[2], int(match[3]))


def _host(text: str) -> str:
    if _NAME.fullmatch(text) is None:
        raise ValueError(f'"{text}" is not a host name in lower case')
    return text


def _export(text: str) -> tuple[str, str]:
    server, colon, export = text.partition(":")
    if not server or not colon or not export.startswith("/"):
        raise ValueError(f'"{text}" is not SERVER:/EXPORT')
    return server, export
