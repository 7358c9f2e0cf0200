"""Layers at the site: Slurm, the burst controller, NFS, nftables, MLflow's servers, the data mover.

Each function returns whether its layer alone refuses an attempt; None if the environment does not have the layer.
"""

from collections.abc import Callable, Iterator, Mapping

from landbridge.catalog.residency_attempts import ResidencyAttempt
from landbridge.ops.residency.attempts.subject import AttemptSubject
from landbridge.ops.residency.compiled import CompiledForms, MlflowForm, PartitionForm
from landbridge.ops.residency.graph import Barrier
from landbridge.ops.residency.network_access import egress_barrier, exports_barrier, firewall_barrier, overlap
from landbridge.plan.aws.storage.dataset_place import class_fault
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.service_flows import NFS_PORT
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.residency import aws_refusal

Layer = Callable[[CompiledForms, AttemptSubject, ResidencyAttempt], bool | None]


def _job_submit(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    if forms.submit is None:
        return None
    names = subject.text(attempt.partition).split(",")
    return not all(forms.submit.admits(subject.account, name) for name in names)


def _allow_accounts(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    """Slurm accepts a list of partitions without those that refuse the account, so the ones in AWS decide."""
    if forms.environment.existing_slurm is not None:
        return None
    in_aws = [form for form in _partitions(forms, subject, attempt) if "aws" in form.sites]
    return not any(form.admits(subject.account) for form in in_aws)


def _associations(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    if not subject.users:
        # Every user of the account is in other accounts too: the proof states it as an assumption.
        return None
    in_aws = [
        account
        for name, account in forms.environment.scheduler.accounts.items()
        if aws_refusal(forms.accounts, forms.operators, forms.environment.region, name) is None
    ]
    return not any(subject.users & set(account.users) for account in in_aws)


def _partition_nodes(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    partitions = list(_partitions(forms, subject, attempt))
    return all("aws" not in form.sites for form in partitions) if partitions else None


def _controller(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    home = forms.environment.region
    region = attempt.region or home
    refusal = aws_refusal(forms.accounts, forms.operators, home, subject.account, attempt.wckey, region)
    return refusal is not None


def _partitions(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> Iterator[PartitionForm]:
    names = subject.text(attempt.partition).split(",")
    return (form for form in forms.partitions if form.name in names)


def _exports(forms: CompiledForms, *_: object) -> bool | None:
    return _refuses(exports_barrier(forms, region, ("storage", "home")) for region in forms.networks)


def _firewall(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    group, host, port = _server_port(forms, subject, attempt)
    if not host:
        return None
    return _refuses(firewall_barrier(forms, group, host, port, region, ("hosts",)) for region in forms.networks)


def _security_group(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    _, host, port = _server_port(forms, subject, attempt)
    if not host:
        return None
    return _refuses(egress_barrier(forms, host, port, region, ("aws",)) for region in forms.networks)


def _server_port(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> tuple[str, str, int]:
    """Return the firewall's group, the host and the port: of the class's MLflow server if the attempt has its layer."""
    served = service_hosts(forms.environment)
    if "server_networks" in attempt.layers:
        server = _mlflow(forms, subject)
        return ("mlflow", served.mlops or "", server.port) if server is not None else ("mlflow", "", 0)
    home = forms.environment.storage.home
    is_onprem = home.kind in ("nfs", "external_nfs")
    return "nfs_server", (getattr(home, "host", None) or served.storage or "") if is_onprem else "", NFS_PORT


def _refuses(barriers: Iterator[Barrier | None]) -> bool | None:
    known = [barrier for barrier in barriers if barrier is not None]
    return not any(barrier.open for barrier in known) if known else None


def _mlflow(forms: CompiledForms, subject: AttemptSubject) -> MlflowForm | None:
    return next((server for server in forms.servers if server.data_class == subject.data_class), None)


def _server_networks(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    server = _mlflow(forms, subject)
    if server is None or not forms.networks:
        return None
    in_aws = [network for networks in forms.networks.values() for network in networks]
    return bool(server.sources) and not overlap(server.sources, in_aws)


def _server_users(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    others = [server for server in mlflow_servers(forms.environment) if server.in_aws]
    if not others or not subject.users:
        return None
    return not any(subject.users & set(server.users) for server in others)


def _tracking_uri(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    if not forms.servers:
        return None
    uri = forms.tracking.get(subject.account, "")
    return not any(server.uri == uri and server.data_class != subject.data_class for server in forms.servers)


def _artifact_store(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    server = _mlflow(forms, subject)
    return None if server is None else server.stores_in is None


def _dataset_class(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    return class_fault(forms.environment, subject.data_class) is not None


def _data_mover(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    return subject.data_class not in forms.moved


SITE_LAYERS: Mapping[str, Layer] = {
    "job_submit": _job_submit,
    "allow_accounts": _allow_accounts,
    "associations": _associations,
    "partition_nodes": _partition_nodes,
    "controller": _controller,
    "exports": _exports,
    "firewall": _firewall,
    "security_group": _security_group,
    "server_networks": _server_networks,
    "server_users": _server_users,
    "tracking_uri": _tracking_uri,
    "artifact_store": _artifact_store,
    "dataset_class": _dataset_class,
    "data_mover": _data_mover,
}
