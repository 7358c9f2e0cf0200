"""Graph of the data of an environment: classes, jobs, file systems, copies and logs. Roles and servers: role_access.py."""

from collections.abc import Iterator

from landbridge.environment import Environment, FsxLustre, SiteLustre, SiteNfs
from landbridge.findings import DataPath
from landbridge.ops.residency.archive_access import add_archives
from landbridge.ops.residency.cache_access import add_caches
from landbridge.ops.residency.class_policy import ClassPolicy
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.ops.residency.graph import ONPREM, OUTSIDE, Barrier, DataGraph, DataPlace, in_words
from landbridge.ops.residency.network_access import egress_barrier, exports_barrier, firewall_barrier
from landbridge.ops.residency.role_access import add_roles
from landbridge.ops.residency.server_access import add_mover, add_servers
from landbridge.ops.residency.serving_access import add_serving
from landbridge.ops.residency.store_access import add_log_stores, add_stores
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.service_flows import NFS_PORT
from landbridge.plan.roles.lustre_client import LUSTRE_PORT
from landbridge.plan.storage import cloud_mounts
from landbridge.residency import aws_refusal

_HOME: DataPath = ("storage", "home")


def data_graph(forms: CompiledForms, policies: dict[str, ClassPolicy]) -> DataGraph:
    """Return the graph of the compiled forms. Every class begins at the place `data:CLASS`."""
    graph = DataGraph()
    _places(graph, forms, policies)
    _jobs(graph, forms, policies)
    _homes(graph, forms)
    _site_shares(graph, forms)
    _cloud_shares(graph, forms)
    add_roles(graph, forms)
    add_servers(graph, forms, policies)
    add_mover(graph, forms)
    add_archives(graph, forms)
    add_serving(graph, forms)
    add_stores(graph, forms)
    add_caches(graph, forms)
    add_log_stores(graph, forms)
    for copy in forms.copies:
        graph.add(DataPlace(copy.key, f"{copy.title} in {copy.region}", copy.region))
        graph.flow(copy.source, copy.key, copy.why, copy.path)
    for log in forms.logs:
        target = graph.add(DataPlace(f"log:{log.name}", f"log group {log.name} in {log.region}", log.region))
        for writer in log.writers:
            graph.flow(writer, target, "it writes the output of jobs into the log group", log.path)
    return graph


def job_locations(forms: CompiledForms) -> Iterator[str]:
    """Yield the locations of nodes: the site, then the regions of pools."""
    if forms.environment.onprem is not None:
        yield ONPREM
    yield from forms.networks


def _places(graph: DataGraph, forms: CompiledForms, policies: dict[str, ClassPolicy]) -> None:
    for name, policy in policies.items():
        graph.add(DataPlace(f"data:{name}", f"data of class {name}", next(iter(policy.locations), OUTSIDE), name))
    for form in forms.buckets.values():
        graph.add(DataPlace(form.key, f"bucket {form.name} in {form.region}", form.region, form.data_class))
        if form.copy_of is None:
            why = "the data hub has a bucket for the class"
            graph.flow(f"data:{form.data_class}", form.key, why, form.path, classes=(form.data_class,))
    for region in forms.networks:
        graph.add(DataPlace(f"nodes:{region}", f"nodes in {region}", region))


def _jobs(graph: DataGraph, forms: CompiledForms, policies: dict[str, ClassPolicy]) -> None:
    for name, account in forms.environment.scheduler.accounts.items():
        policy = policies.get(account.data_class)
        if policy is None:
            continue
        for location in job_locations(forms):
            title = f"jobs of {name} {in_words(location)}"
            key = graph.add(DataPlace(f"jobs:{name}@{location}", title, location, policy.name))
            graph.cross(f"data:{policy.name}", key, _job_barriers(forms, name, location), (policy.name,))
            if location != ONPREM:
                why = "root of a node reads what its jobs hold"
                graph.flow(key, f"nodes:{location}", why, ("scheduler", "accounts", name))


def _job_barriers(forms: CompiledForms, account: str, location: str) -> Iterator[Barrier]:
    """Yield the barriers before jobs of an account. Slurm knows sites; regions are known to the controller only."""
    environment = forms.environment
    path: DataPath = ("scheduler", "accounts", account, "data_class")
    site = "onprem" if location == ONPREM else "aws"
    if location in (ONPREM, environment.region):
        reaching = [form for form in forms.partitions if site in form.sites]
        if location == ONPREM and environment.existing_slurm is not None:
            yield Barrier("partitions", True, "the site's own partitions are not known", path)
        else:
            admitting = [form.name for form in reaching if form.admits(account)]
            yield _partition_barrier("partitions", "AllowAccounts of", account, admitting, path)
        if forms.submit is not None:
            accepted = [form.name for form in reaching if forms.submit.admits(account, form.name)]
            yield _partition_barrier("job_submit.lua", "job_submit.lua for", account, accepted, path)
        if location != ONPREM and forms.prolog is not None:
            admitted = forms.prolog.admits(account)
            ours = f"nodes in AWS {'start' if admitted else 'refuse'} jobs of {account}"
            replaced = f"the Prolog {forms.prolog.program or 'is absent, which'} refuses no job"
            yield Barrier("Prolog", admitted, ours if forms.prolog.is_own else replaced, path)
    if location != ONPREM:
        refusal = aws_refusal(forms.accounts, forms.operators, environment.region, account, region=location)
        why = refusal or f"the burst controller launches nodes for {account}"
        yield Barrier("burst controller", refusal is None, why, path)


def _partition_barrier(name: str, check: str, account: str, partitions: list[str], path: DataPath) -> Barrier:
    if not partitions:
        return Barrier(name, False, f"no partition with nodes there admits {account}", path)
    return Barrier(name, True, f"{check} {', '.join(partitions)} admits {account}", path)


def _homes(graph: DataGraph, forms: CompiledForms) -> None:
    environment = forms.environment
    home, served = environment.storage.home, service_hosts(environment)
    is_onprem = home.kind in ("nfs", "external_nfs")
    location = ONPREM if is_onprem else environment.region
    graph.add(DataPlace("home", f"home directories ({home.mount})", location))
    mounting = [ONPREM] if is_onprem else []
    if home.on_cloud_nodes:
        mounting += list(forms.networks) if is_onprem else [environment.region]
    _mounted(graph, forms, "home", mounting, _HOME)
    if not is_onprem:
        return
    host = getattr(home, "host", None) or served.storage or ""
    path: DataPath = (*_HOME, "on_cloud_nodes")
    for region in forms.networks:
        barriers = (
            exports_barrier(forms, region, path),
            firewall_barrier(forms, "nfs_server", host, NFS_PORT, region, path) if forms.exports is not None else None,
            egress_barrier(forms, host, NFS_PORT, region, path),
        )
        graph.cross("home", f"nodes:{region}", [barrier for barrier in barriers if barrier is not None])


def _site_shares(graph: DataGraph, forms: CompiledForms) -> None:
    if forms.environment.onprem is None:
        return
    for name, share in forms.environment.storage.site_shares.items():
        path: DataPath = ("storage", "site_shares", name)
        key = graph.add(DataPlace(f"share:{name}", f"file system {name} ({share.mount})", ONPREM))
        _mounted(graph, forms, key, [ONPREM], path)
        host, port = _server(share)
        for region in forms.networks:
            graph.cross(key, f"nodes:{region}", [egress_barrier(forms, host, port, region, path)])


def _server(share: SiteNfs | SiteLustre) -> tuple[str, int]:
    if isinstance(share, SiteNfs):
        return share.host, NFS_PORT
    return share.source.partition("@")[0], LUSTRE_PORT


def _cloud_shares(graph: DataGraph, forms: CompiledForms) -> None:
    environment = forms.environment
    mounts, region = cloud_mounts(environment), environment.region
    for path, share in environment.storage.in_aws().items():
        if share is environment.storage.home:
            continue
        where: DataPath = ("storage", *path)
        key = graph.add(DataPlace(f"share:{path[-1]}", f"file system {path[-1]} in {region}", region))
        _mounted(graph, forms, key, [region] if path[-1] in mounts else [], where)
        if isinstance(share, FsxLustre):
            _repositories(graph, environment, key, share, where)
    for path, existing in environment.storage.existing().items():
        place = DataPlace(f"share:{path[-1]}", f"file system {existing.id} in {region}", region, existing.data_class)
        # The file says which class its content has: file permissions keep other data out (assumptions.py).
        _mounted(graph, forms, graph.add(place), [region], ("storage", *path), (existing.data_class,))


def _repositories(graph: DataGraph, environment: Environment, key: str, share: FsxLustre, path: DataPath) -> None:
    for index, repository in enumerate(share.repositories):
        where: DataPath = (*path, "repositories", index)
        if repository.bucket is not None:
            if repository.export:
                _export(graph, key, repository.bucket, where)
            continue
        bucket = f"bucket:{repository.data_class}"
        graph.flow(bucket, key, f"FSx shows its objects in {repository.folder}", where)
        if repository.export:
            only = (repository.data_class or "",)
            graph.flow(key, bucket, f"FSx exports {repository.folder} to it", where, classes=only)
    if share.export_path is not None:
        _export(graph, key, share.export_path, (*path, "export_path"))


def _export(graph: DataGraph, key: str, bucket: str, path: DataPath) -> None:
    target = graph.add(DataPlace(f"external:{bucket}", f"{bucket}, which is not in the hub", OUTSIDE))
    graph.flow(key, target, "FSx exports changes to it; its region and readers are not known", path)


def _mounted(
    graph: DataGraph,
    forms: CompiledForms,
    key: str,
    locations: list[str],
    path: DataPath,
    classes: tuple[str, ...] | None = None,
) -> None:
    """Add the crossings from jobs to a file system that the nodes of these locations mount."""
    for account in forms.environment.scheduler.accounts:
        for location in locations:
            graph.flow(f"jobs:{account}@{location}", key, "nodes mount it, and jobs write to it", path, classes=classes)
