"""State of an environment's CA and of its hosts' certificates, and readiness of the site's credentials, as findings."""

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from landbridge.certificates import CertificateError, read_authority
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, Severity
from landbridge.ops.credentials.folder import AuthorityFolder
from landbridge.plan.network.services.model_archive import archived_servers
from landbridge.plan.network.services.monitoring import monitors_cloud_nodes
from landbridge.plan.network.services.serving import cloud_model_servers
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.hosts.roles_anywhere import credential_hosts

_ANYWHERE: DataPath = ("aws", "iam", "anywhere")
_SOURCE: DataPath = ("onprem", "aws_credentials")
#: Credentials files of the services in the secrets folder, for `onprem.aws_credentials: files`.
FILES = ("aws-credentials-burst", "aws-credentials-mlflow")
#: The one of the monitoring host, if nodes in AWS are monitored.
DISCOVERY = "aws-credentials-discovery"
#: The one of the model gateway, if it has hosts of model servers in AWS.
INSTANCES = "aws-credentials-model-instances"
#: The one of the first controller, if it archives models.
ARCHIVE = "aws-credentials-model-archive"


@dataclass(frozen=True, slots=True)
class HostState:
    """Certificate of a host: `missing`, `valid`, `due` for renewal, `ending` or `expired`."""

    host: str
    state: str
    serial: str | None = None
    not_after: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        values = asdict(self)
        return {**values, "not_after": self.not_after.isoformat() if self.not_after else None}


def host_states(environment: Environment, folder: AuthorityFolder, now: datetime) -> tuple[HostState, ...]:
    """Return the state of each host's newest certificate that this machine knows."""
    anywhere = environment.aws.iam.anywhere
    if anywhere is None:
        return ()
    issued = {certificate.common_name: certificate for certificate in folder.issued()}
    states: list[HostState] = []
    for host in credential_hosts(environment):
        certificate = issued.get(host)
        if certificate is None:
            states.append(HostState(host, "missing"))
            continue
        left = certificate.not_after - now
        state = "valid"
        if left <= timedelta():
            state = "expired"
        elif left < timedelta(days=anywhere.alarm_days):
            state = "ending"
        elif left < timedelta(days=anywhere.renew_days):
            state = "due"
        states.append(HostState(host, state, certificate.serial, certificate.not_after))
    return tuple(states)


def readiness(
    environment: Environment,
    secrets: Path,
    outputs: StackOutputs | None,
    now: datetime,
    stored: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield what `landbridge configure` lacks on this machine to give the site its AWS credentials.

    `stored`: names of the secrets in the environment's store.
    """
    site = environment.onprem
    if site is None or not environment.aws.pools:
        return
    name = environment.name
    if site.aws_credentials == "files":
        discovery = [DISCOVERY] if monitors_cloud_nodes(environment) else []
        instances = [INSTANCES] if cloud_model_servers(environment) else []
        archive = [ARCHIVE] if archived_servers(environment) else []
        for file in (*FILES, *discovery, *instances, *archive):
            if file not in stored and not (secrets / file).is_file():
                fix = f"run landbridge credentials init -s {name} for IAM Roles Anywhere, or write this file"
                message = f"{secrets / file} does not exist: the services would have no AWS credentials"
                yield Finding("credentials-file", message, _SOURCE, fix)
    elif site.aws_credentials is None and environment.aws.iam.anywhere is not None:
        yield from _anywhere(environment, AuthorityFolder(secrets / "anywhere"), outputs, now)


def _anywhere(
    environment: Environment, folder: AuthorityFolder, outputs: StackOutputs | None, now: datetime
) -> Iterator[Finding]:
    anywhere, name = environment.aws.iam.anywhere, environment.name
    assert anywhere is not None
    if not folder.certificate.is_file():
        fix = f"run landbridge credentials init -s {name} on this machine, or copy {folder.path} from the operator's who did"
        message = f"{folder.path} has no CA: no host can get a certificate"
        yield Finding("credentials-authority", message, _ANYWHERE, fix)
    else:
        try:
            read_authority(folder.certificate.read_bytes(), now)
        except CertificateError as problem:
            fix = f"run landbridge credentials init -s {name} --replace"
            yield Finding("credentials-authority", f"{folder.certificate}: {problem}", _ANYWHERE, fix)
        if folder.certificate.read_text().strip() not in anywhere.certificate:
            message = f"the CA in {folder.path} is not that of the environment file: AWS would refuse its certificates"
            fix = f"run landbridge credentials init -s {name} --replace, then landbridge up -s {name}"
            yield Finding("credentials-authority", message, (*_ANYWHERE, "certificate"), fix)
    if outputs is not None and outputs.identity.trust_anchor_arn is None:
        message = "the stack has no trust anchor yet"
        yield Finding("credentials-anchor", message, _ANYWHERE, f"run landbridge up -s {name}")
    for state in host_states(environment, folder, now):
        if state.state in ("expired", "ending"):
            text = f"the certificate of {state.host} ends on {state.not_after:%F}; this run renews it"
            yield Finding("credentials-end", text, _ANYWHERE, severity=Severity.WARNING)
