"""Compiled forms of an environment: what Slurm, NFS, nftables, IAM and MLflow receive, without AWS's own answers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.ops.iam import Document
from landbridge.ops.residency.archive_forms import ArchiveForm, archive_forms
from landbridge.ops.residency.cache_forms import CacheForm, cache_forms
from landbridge.ops.residency.graph import ONPREM
from landbridge.ops.residency.iam_forms import HubBucketForm, RoleForm, endpoint_policies, hub_buckets, roles
from landbridge.ops.residency.submit_form import PrologForm, SubmitForm, prolog_form, submit_form
from landbridge.plan.aws.node_security_group import SecurityGroupRule, pool_security_group_rules
from landbridge.plan.aws.sagemaker import job_classes
from landbridge.plan.network.firewall_rule import FirewallRule
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.log_store import log_store_host
from landbridge.plan.network.services.mlflow_servers import mlflow_servers, tracking_uri
from landbridge.plan.network.services.object_store import replicated_classes, store_buckets
from landbridge.plan.other_regions import other_regions
from landbridge.plan.placement.residency import AccountResidency, account_residencies
from landbridge.plan.roles.log_store import log_store_variables
from landbridge.plan.roles.mlflow import job_variables
from landbridge.plan.site.firewall import firewall_rules
from landbridge.plan.site.home_copies import home_copies
from landbridge.plan.site.home_directories import home_exports
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes
from landbridge.plan.slurm.partitions import OPERATORS, partition_lines, partition_sites

_PARTITION = re.compile(r"^PartitionName=(\S+)")
_ALLOWED = re.compile(r"\bAllowAccounts=(\S+)")


@dataclass(frozen=True, slots=True)
class PartitionForm:
    """Partition of slurm.conf: the sites of its nodes, and its AllowAccounts; None: it admits every account."""

    name: str
    sites: frozenset[str]
    accounts: frozenset[str] | None

    def admits(self, account: str) -> bool:
        """Return whether jobs of an account may use it."""
        return self.accounts is None or account in self.accounts


@dataclass(frozen=True, slots=True)
class MlflowForm:
    """MLflow server: its tracking URI, the class of its users, its artifact store (a class's bucket, or a directory), and
    the networks that it accepts; none: any.
    """

    name: str
    uri: str
    port: int
    data_class: str
    stores_in: str | None
    sources: tuple[IPv4Network, ...]


@dataclass(frozen=True, slots=True)
class StoreForm:
    """Bucket of the site's object store, and the classes whose accounts its policy names."""

    name: str
    data_class: str
    admits: frozenset[str]


@dataclass(frozen=True, slots=True)
class DataCopy:
    """Copy that a service of AWS makes by itself: a replica or a backup. `source` and `key` are keys of places."""

    source: str
    key: str
    title: str
    region: str
    why: str
    path: DataPath


@dataclass(frozen=True, slots=True)
class LogSink:
    """Log group with output of jobs. `writers` are keys of the places whose processes write into it."""

    name: str
    region: str
    writers: tuple[str, ...]
    path: DataPath


@dataclass(frozen=True, slots=True)
class LogStoreForm:
    """Log store: its host, location and port. `writers` are keys of the places whose logs hosts ship to it; `nodes`: the nodes in AWS that it
    admits."""

    host: str
    location: str
    port: int
    writers: tuple[str, ...]
    path: DataPath
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompiledForms:
    """Compiled forms that the proof reads. `tracking`: MLflow's URI by account. `moved`: the classes that the data mover
    copies; `replicated`: those that the object store copies. `networks`: CIDR blocks of nodes in AWS by region. `exports`: networks to which homes are exported; None: the
    NFS server is not configured by Landbridge, or there is none. `submit`: None if there is no job_submit.lua. `prolog`: None with the site's own slurm.conf.
    """

    environment: Environment
    buckets: Mapping[str, HubBucketForm]
    roles: Mapping[str, RoleForm]
    endpoints: Mapping[tuple[str, str], Document]
    partitions: tuple[PartitionForm, ...]
    submit: SubmitForm | None
    prolog: PrologForm | None
    accounts: Mapping[str, AccountResidency]
    operators: frozenset[str]
    servers: tuple[MlflowForm, ...]
    tracking: Mapping[str, str]
    moved: frozenset[str]
    networks: Mapping[str, tuple[IPv4Network, ...]]
    exports: tuple[IPv4Network, ...] | None
    firewall: Mapping[str, tuple[FirewallRule, ...]]
    egress: Mapping[str, tuple[SecurityGroupRule, ...]]
    copies: tuple[DataCopy, ...]
    logs: tuple[LogSink, ...]
    log_stores: tuple[LogStoreForm, ...]
    stores: tuple[StoreForm, ...]
    replicated: frozenset[str]
    caches: tuple[CacheForm, ...]
    archives: tuple[ArchiveForm, ...]

    @property
    def services_location(self) -> str:
        """Return the location of the hosts of Slurm, NFS and MLflow."""
        return ONPREM if service_hosts(self.environment).site == "onprem" else self.environment.region


def compiled_forms(environment: Environment) -> CompiledForms:
    """Return the compiled forms of an environment."""
    buckets = hub_buckets(environment)
    regions = {environment.region: environment, **other_regions(environment)}
    tracking = {account: variables["MLFLOW_TRACKING_URI"] for account, variables in job_variables(environment).items()}
    exports = home_exports(environment)
    return CompiledForms(
        environment,
        buckets,
        roles(environment, buckets),
        endpoint_policies(environment),
        _partitions(environment),
        submit_form(environment),
        prolog_form(environment),
        account_residencies(environment),
        frozenset({OPERATORS}),
        _servers(environment),
        {account: uri for account, uri in tracking.items() if uri},
        frozenset(
            name
            for name, data_class in environment.data_classes.items()
            if environment.onprem is not None and {"onprem", "aws"} <= set(data_class.sites)
        ),
        {
            region: (settings.aws.cidr, *settings.aws.secondary_cidrs)
            for region, settings in regions.items()
            if settings.aws.pools
        },
        tuple(IPv4Network(text) for export in exports for text in export["clients"]) if exports else None,
        firewall_rules(environment) if environment.onprem is not None else {},
        {region: pool_security_group_rules(settings) for region, settings in regions.items()},
        _copies(environment, buckets),
        _logs(environment),
        _log_stores(environment),
        _stores(environment),
        frozenset(replicated_classes(environment)),
        cache_forms(environment),
        archive_forms(environment),
    )


def _partitions(environment: Environment) -> tuple[PartitionForm, ...]:
    nodes = (*onprem_nodes(environment), *cloud_nodes(environment))
    sites = partition_sites(environment, nodes)
    forms = []
    for line in partition_lines(environment, nodes):
        name, allowed = _PARTITION.match(line), _ALLOWED.search(line)
        if name is not None:
            accounts = None if allowed is None or allowed[1] == "ALL" else frozenset(allowed[1].split(","))
            forms.append(PartitionForm(name[1], frozenset(map(str, sites.get(name[1], ()))), accounts))
    return tuple(forms)


def _servers(environment: Environment) -> tuple[MlflowForm, ...]:
    return tuple(
        MlflowForm(
            server.name,
            tracking_uri(environment, server),
            server.port,
            server.data_class,
            server.data_class if server.in_aws else None,
            server.sources,
        )
        for server in mlflow_servers(environment)
    )


def _copies(environment: Environment, buckets: Mapping[str, HubBucketForm]) -> tuple[DataCopy, ...]:
    replicas = [
        DataCopy(
            form.copy_of, form.key, f"bucket {form.name}", form.region, "S3 replicates every new object", form.path
        )
        for form in buckets.values()
        if form.copy_of is not None
    ]
    backups = []
    for path, share in environment.storage.in_aws().items():
        key = "backups" if share.kind == "efs" else "backup_days"
        if getattr(share, key):
            source = "home" if share is environment.storage.home else f"share:{path[-1]}"
            where: DataPath = ("storage", *path, key)
            title, region = f"backups of {path[-1]}", environment.region
            backups.append(
                DataCopy(source, f"backups:{path[-1]}", title, region, "AWS backs it up in its region", where)
            )
    copies = home_copies(environment)
    if copies is not None and copies.data_class is not None:
        title = f"copies of homes in the bucket of class {copies.data_class}"
        place: DataPath = ("storage", "home", "copies", "data_class")
        why = "the storage host copies every home into the bucket"
        backups.append(DataCopy("home", "copies:home", title, environment.region, why, place))
    return (*replicas, *backups)


def _logs(environment: Environment) -> tuple[LogSink, ...]:
    """Return the log groups with output of jobs. Flow logs and trails have addresses and calls, and no output."""
    if environment.mlops.sagemaker is None:
        return ()
    path: DataPath = ("mlops", "sagemaker")
    sources = tuple(f"sagemaker-{name}" for name in job_classes(environment))
    return (LogSink("/aws/sagemaker/TrainingJobs", environment.region, sources, path),)


def _log_stores(environment: Environment) -> tuple[LogStoreForm, ...]:
    """Return the log store of the site, to which the site's hosts ship, and the nodes in AWS that it admits."""
    host = log_store_host(environment)
    if host is None:
        return ()
    writers = (
        *(f"jobs:{account}@{ONPREM}" for account in environment.scheduler.accounts),
        *(f"server:{server.name}" for server in mlflow_servers(environment)),
    )
    port = environment.observability.logs.port
    nodes = tuple(node["name"] for node in log_store_variables(environment)["log_store_nodes"])
    return (LogStoreForm(host, ONPREM, port, writers, ("onprem", "services", "logs"), nodes),)


def _stores(environment: Environment) -> tuple[StoreForm, ...]:
    buckets = store_buckets(environment)
    classes = {account.access_key: account.data_class for bucket in buckets for account in bucket.accounts}
    return tuple(
        StoreForm(
            bucket.name,
            bucket.data_class,
            frozenset(
                classes.get(key, key)
                for statement in bucket.policy["Statement"]
                if statement["Effect"] == "Allow"
                for key in statement["Principal"]["AWS"]
            ),
        )
        for bucket in buckets
    )
