"""Assets of a site, and their copies outside it, as the plan makes them."""

from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog.site_loss import site_loss_facts
from landbridge.environment import Environment, HubClass
from landbridge.environment.storage import HomeCopies
from landbridge.findings import DataPath, Finding, Severity
from landbridge.plan.aws.storage.data_hub import bucket_prefix
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import MlflowServer, mlflow_servers
from landbridge.plan.resource_names import BACKUPS_PREFIX, HOMES_PREFIX
from landbridge.plan.site.home_copies import DELAY_HOURS, home_copies, is_locked


@dataclass(frozen=True, slots=True)
class AssetCopy:
    """Copy of an asset outside the site. `locked`: the rights of its writer do not suffice to delete it."""

    place: str
    locked: bool


@dataclass(frozen=True, slots=True)
class SiteAsset:
    """Asset: its name in the catalogue with the object that it belongs to, its host, its data classes, its copy (None: there
    is none), the reason why Landbridge makes none, and its position in the file.
    """

    kind: str
    name: str
    host: str
    classes: tuple[str, ...]
    copy: AssetCopy | None
    path: DataPath
    fix: str
    #: Whether the owner's own system has the copy, which is not in the file.
    is_external: bool = False
    #: Hours between two copies, where the file has them.
    every_hours: float | None = None

    @property
    def lost_hours(self) -> float | None:
        """Return the hours of changes that are lost with the site; None: everything, or unknown."""
        if self.copy is None:
            return None
        if self.every_hours is not None:
            return self.every_hours
        return site_loss_facts().assets[self.kind].every_hours or 0.0

    def finding(self) -> Finding | None:
        """Return the finding about an asset without a copy, or with one that is not locked."""
        facts = site_loss_facts().assets[self.kind]
        if self.copy is not None and self.copy.locked:
            return None
        if self.copy is not None:
            message = f"the copy of {self.name} in {self.copy.place} can be deleted with the rights of its writer"
            return Finding("site-loss", message, self.path, self.fix, Severity.WARNING)
        if self.is_external:
            message = f"no copy of {self.name} is in the file: {self.host} is a server of its own"
            return Finding("site-loss", message, self.path, self.fix, Severity.WARNING)
        message = f"no copy of {self.name} is outside the site: {facts.content}, on {self.host}"
        severity = Severity.ERROR if facts.required else Severity.INFO
        return Finding("site-loss", message, self.path, self.fix, severity)


def site_assets(environment: Environment) -> Iterator[SiteAsset]:
    """Yield the assets of the site's services; none for services in AWS."""
    if environment.onprem is None:
        return
    served = service_hosts(environment)
    classes = tuple(dict.fromkeys(account.data_class for account in environment.scheduler.accounts.values()))
    services: DataPath = ("onprem", "services")
    if environment.existing_slurm is None:
        facts = site_loss_facts().assets["slurm-database"]
        fix = f"copy {facts.folder} to another place each day (ansible/playbooks/fetch_dumps.yml); it has names of jobs and users"
        yield SiteAsset("slurm-database", "Slurm's database", served.database, (), None, (*services, "database"), fix)
        yield SiteAsset(
            "slurm-queue", "Slurm's queue", served.controllers[0], classes, None, services, "nothing: resubmit jobs"
        )
    for server in mlflow_servers(environment):
        yield from _mlflow(environment, server, served.mlops)
    yield from _files(environment, classes, served.storage or "")
    yield _secrets(environment)
    yield _state(environment)
    if environment.aws.pools:
        folder = site_loss_facts().assets["residency-records"].folder
        for host in served.controllers:
            fix = f"copy {folder} of {host}, and keep the last record of each verification elsewhere"
            yield SiteAsset("residency-records", f"the residency records of {host}", host, (), None, services, fix)
        name, fix = "the burst controller's journal", "nothing: the controller reads EC2 and Slurm"
        yield SiteAsset("burst-journal", name, served.controllers[0], (), None, services, fix)


def _mlflow(environment: Environment, server: MlflowServer, host: str) -> Iterator[SiteAsset]:
    bucket_copy = _bucket_copy(environment, server.data_class, f"{BACKUPS_PREFIX}/mlflow") if server.in_aws else None
    folder = site_loss_facts().assets["mlflow-database"].folder
    lock: DataPath = ("storage", "data_hub", "classes", server.data_class, "object_lock")
    path: DataPath = lock if server.in_aws else ("data_classes", server.data_class, "sites")
    locked = "write object_lock and replica_region for the class, or give backups a data class of their own"
    own_place = f"copy {folder} to a place on-prem where data of class {server.data_class} may be"
    fix = locked if server.in_aws else own_place
    title = f"the databases of MLflow's server {server.name}"
    yield SiteAsset("mlflow-database", title, host, (server.data_class,), bucket_copy, path, fix)
    artifacts = f"the artifacts of MLflow's server {server.name}"
    if server.in_aws:
        bucket_copy = _bucket_copy(environment, server.data_class, "mlflow")
        yield SiteAsset("mlflow-artifacts", artifacts, "S3", (server.data_class,), bucket_copy, path, fix)
        return
    fix = f"copy /var/lib/{server.name}/artifacts to a place on-prem where data of class {server.data_class} may be"
    yield SiteAsset("mlflow-artifacts", artifacts, host, (server.data_class,), None, path, fix)


def _bucket_copy(environment: Environment, data_class: str, prefix: str) -> AssetCopy:
    hub_class = environment.storage.data_hub.classes.get(data_class, HubClass())
    bucket = bucket_prefix(environment.name, data_class)
    regions = [environment.region, *([hub_class.replica_region] if hub_class.replica_region else [])]
    place = f"s3://{bucket}-ACCOUNT/{prefix} in {' and '.join(regions)}"
    return AssetCopy(place, hub_class.object_lock is not None)


def _files(environment: Environment, classes: tuple[str, ...], host: str) -> Iterator[SiteAsset]:
    home = environment.storage.home
    in_aws = [name for name in classes if "aws" in environment.data_classes[name].sites]
    confined = [name for name in classes if name not in in_aws]
    where = f"; data of {', '.join(confined)} may be on-prem only" if confined else ""
    fix = f"copy them to another place each day (restic, rsync or the storage system's own replication){where}"
    if home.kind in ("nfs", "external_nfs"):
        server = getattr(home, "host", None) or host
        external = home.kind == "external_nfs"
        path: DataPath = ("storage", "home")
        copies, copy, hours = home_copies(environment), None, None
        if copies is not None:
            copy = AssetCopy(_copies_place(environment, copies), is_locked(environment, copies))
            path, hours = ("storage", "home", "copies"), copies.hours + DELAY_HOURS
            fix = "write object_lock and replica_region for the class of the copies"
            if copies.data_class is None:
                fix = "let the repository's host accept new copies only, and prune there (restic's rest-server: --append-only)"
        elif not external:
            fix = f"write storage.home.copies, or {fix}"
        title = f"home directories ({home.mount})"
        yield SiteAsset("homes", title, server, classes, copy, path, fix, external, hours)
    for name, share in environment.storage.site_shares.items():
        path = ("storage", "site_shares", name)
        yield SiteAsset("shares", f"file system {name} ({share.mount})", name, classes, None, path, fix, True)


def _copies_place(environment: Environment, copies: HomeCopies) -> str:
    """Return the place of the copies in words: a bucket without its account's number, or the repository."""
    if copies.data_class is None:
        return copies.repository or ""
    hub_class = environment.storage.data_hub.classes.get(copies.data_class)
    replica = hub_class.replica_region if hub_class is not None else None
    regions = [environment.region, *([replica] if replica else [])]
    return (
        f"s3://{bucket_prefix(environment.name, copies.data_class)}-ACCOUNT/{HOMES_PREFIX} in {' and '.join(regions)}"
    )


def _secrets(environment: Environment) -> SiteAsset:
    store = environment.secrets.store
    path: DataPath = ("secrets", "store")
    if store == "local":
        fix = f"write ansible-vault or sops, then landbridge secrets import -s {environment.name}, and commit the file"
        return SiteAsset("secrets", "secrets of the site", "the operator's machine", (), None, path, fix)
    copy = AssetCopy("the encrypted file beside the environment file, in every clone of the repository", True)
    return SiteAsset("secrets", "secrets of the site", "the operators' machines", (), copy, path, "")


def _state(environment: Environment) -> SiteAsset:
    state = environment.state
    path: DataPath = ("state",)
    if state is None or state.is_local:
        fix = "write state.backend: s3://..., and landbridge moves the state (docs/how-to/share-the-state.md)"
        return SiteAsset("stack-state", "Pulumi's state", "the operator's machine", (), None, path, fix)
    return SiteAsset("stack-state", "Pulumi's state", "S3", (), AssetCopy(state.backend, True), path, "")
