"""Limits of FSx and EFS, and settings that they accept but treat unexpectedly. Each check has its source."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from landbridge.catalog import regions, services
from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import FsxLustre, FsxOpenZfs
from landbridge.plan.storage.resolved import Share, lustre_rows, resolve

_NAMES = {"fsx_lustre": "FSx for Lustre", "fsx_openzfs": "FSx for OpenZFS", "efs": "EFS"}


@dataclass(frozen=True, slots=True)
class StorageViolation:
    """Violation of a storage limit: key of the share's setting, problem and fix."""

    key: str
    message: str
    fix: str | None = None


def storage_violations(share: Share, region: str | None = None) -> tuple[StorageViolation, ...]:
    """Return all violations of a file system; with a region, also features that the region lacks."""
    if isinstance(share, FsxLustre):
        violations = [*_lustre_shape(share), *_lustre_efa(share), *_lustre_s3(share), *_lustre_backups(share)]
    elif isinstance(share, FsxOpenZfs):
        violations = [*_openzfs(share)]
    else:
        violations = [*_efs(share.throughput, share.performance, share.provisioned_mibps)]
    return (*violations, *(_unavailable(share, region) if region is not None else ()))


def _lustre_shape(share: FsxLustre) -> Iterator[StorageViolation]:
    """Yield violations of sizes and throughputs. Source: FSx for Lustre User Guide, "Deployment and storage class
    options".
    """
    lustre = facts().fsx_lustre
    if share.storage_type == "intelligent_tiering":
        elastic = lustre.intelligent_tiering
        if share.deployment != elastic.deployment:
            yield StorageViolation(
                "deployment", f"intelligent tiering needs {elastic.deployment}", f"deployment: {elastic.deployment}"
            )
        if resolve(share).capacity_gib is not None:
            yield StorageViolation(
                "capacity_gib", "intelligent tiering grows by itself and has no size", "leave it out"
            )
        step = elastic.throughput_step
        rate = share.throughput or step
        if rate % step or rate > elastic.throughput_max:
            near = min(-(-rate // step) * step, elastic.throughput_max)
            message = f"intelligent tiering carries multiples of {step} MB/s, up to {elastic.throughput_max}"
            yield StorageViolation("throughput", message, f"throughput: {near}")
        return
    rows = lustre.rows(share.deployment, share.storage_type)
    if not rows:
        other = sorted({row.storage for row in lustre.deployments if row.deployment == share.deployment})
        message = f"{share.deployment} has no {share.storage_type} disks"
        yield StorageViolation("storage_type", message, f"storage_type: {' or '.join(other)}" if other else None)
        return
    choices = sorted({rate for row in rows for rate in row.throughput})
    if share.throughput is not None and share.throughput not in choices:
        if choices:
            message = f"{share.deployment} with {share.storage_type} has no {share.throughput} MB/s per TiB"
            yield StorageViolation("throughput", message, f"one of {', '.join(str(rate) for rate in choices)}")
        else:
            base = f" (its {rows[0].baseline} MB/s per TiB)" if rows[0].baseline is not None else ""
            yield StorageViolation(
                "throughput", f"{share.deployment} leaves no choice of throughput{base}", "leave it out"
            )
    yield from _lustre_size(share)


def _lustre_size(share: FsxLustre) -> Iterator[StorageViolation]:
    rate = resolve(share).throughput
    # An invalid throughput matches no row: then all rows of the deployment are checked.
    rows = [row for row in lustre_rows(share) if not row.throughput or rate in row.throughput] or lustre_rows(share)
    if share.capacity_gib is None:
        yield StorageViolation("capacity_gib", f"{share.deployment} needs a size", f"capacity_gib: {rows[0].sizes[0]}")
    elif rows and not any(row.has_size(share.capacity_gib) for row in rows):
        above = min(row.next_size(share.capacity_gib) for row in rows)
        message = f"FSx for Lustre {share.deployment} has no size of {share.capacity_gib} GiB"
        yield StorageViolation("capacity_gib", message, f"the next size is {above}")


def _lustre_efa(share: FsxLustre) -> Iterator[StorageViolation]:
    """Yield violations of EFA's size increments. Source: FSx for Lustre User Guide, "EFA-enabled file systems"."""
    if not share.efa:
        return
    efa = facts().fsx_lustre.efa
    if share.deployment != efa.deployment:
        yield StorageViolation("efa", f"EFA needs {efa.deployment}", f"deployment: {efa.deployment}, or efa: false")
        return
    rate = resolve(share).throughput
    step = efa.step_gib.get(rate) if rate is not None and share.storage_type == "ssd" else None
    if step is None or share.capacity_gib is None or not share.capacity_gib % step:
        return
    above = -(-share.capacity_gib // step) * step
    smaller = [f"{least} at throughput {key}" for key, least in efa.step_gib.items() if least <= share.capacity_gib]
    message = f"with EFA and {rate} MB/s per TiB the size is a multiple of {step} GiB, not {share.capacity_gib}"
    alternatives = f"; smaller steps: {', '.join(smaller)}" if smaller else ""
    yield StorageViolation("capacity_gib", message, f"capacity_gib: {above}{alternatives}")


def _lustre_s3(share: FsxLustre) -> Iterator[StorageViolation]:
    """Yield violations of links to S3. Source: FSx API Reference, CreateDataRepositoryAssociation and
    CreateFileSystemLustreConfiguration.
    """
    repository_facts = facts().fsx_lustre.repositories
    if share.export_path is not None and share.import_path is None:
        yield StorageViolation("export_path", "export_path needs import_path, in the same bucket", "use repositories")
    elif share.export_path is not None and _bucket(share.export_path) != _bucket(share.import_path or ""):
        yield StorageViolation("export_path", "export_path must be in import_path's bucket", "use repositories")
    if not share.repositories:
        return
    if share.deployment in repository_facts.not_on:
        message = f"{share.deployment} cannot link buckets as data repositories"
        yield StorageViolation("repositories", message, "deployment: scratch_2 or persistent_2")
    if len(share.repositories) > repository_facts.most:
        message = f"{len(share.repositories)} repositories; a file system has {repository_facts.most} at most"
        yield StorageViolation("repositories", message, "link a common prefix, or create a second file system")
    for key in ("import_path", "export_path"):
        if key in repository_facts.excludes and getattr(share, key) is not None:
            yield StorageViolation(key, f"{key} and repositories exclude each other", f"remove {key}")
    for repository, other in combinations(share.repositories, 2):
        first, second = repository.folder.rstrip("/") + "/", other.folder.rstrip("/") + "/"
        if first.startswith(second) or second.startswith(first):
            message = f"one of the folders {repository.folder} and {other.folder} is inside the other"
            yield StorageViolation("repositories", message, "link each bucket to a separate folder")
    for repository in share.repositories:
        if (repository.data_class is None) == (repository.bucket is None):
            linked = "both a data class and a bucket" if repository.bucket else "neither a data class nor a bucket"
            message = f"{repository.folder} is linked to {linked}"
            yield StorageViolation("repositories", message, "set either data_class or bucket")


def _lustre_backups(share: FsxLustre) -> Iterator[StorageViolation]:
    """Yield violations of backups. Source: FSx API Reference, CreateFileSystemLustreConfiguration,
    AutomaticBackupRetentionDays.
    """
    backups = facts().fsx_lustre.backups
    yield from _backup_days(share.backup_days, backups.days)
    if not share.backup_days:
        return
    if share.deployment in backups.not_on:
        yield StorageViolation(
            "backup_days", f"{share.deployment} has no backups", "backup_days: 0, or a persistent one"
        )
    if backups.not_with_repositories and share.repositories:
        message = "a file system with linked buckets has no backups: its data is in the buckets"
        yield StorageViolation("backup_days", message, "backup_days: 0")


def _openzfs(share: FsxOpenZfs) -> Iterator[StorageViolation]:
    """Yield violations of OpenZFS's limits. Source: FSx API Reference, CreateFileSystemOpenZFSConfiguration, and
    StorageCapacity of CreateFileSystem.
    """
    openzfs = facts().fsx_openzfs
    low, high = openzfs.capacity_gib
    if not low <= share.capacity_gib <= high:
        message = f"FSx for OpenZFS has {low} to {high} GiB, not {share.capacity_gib}"
        yield StorageViolation("capacity_gib", message, f"capacity_gib: {min(max(share.capacity_gib, low), high)}")
    row = openzfs.deployments.get(share.deployment)
    if row is not None and share.throughput is not None and share.throughput not in row.throughput:
        message = f"{share.deployment} has no throughput of {share.throughput} MB/s"
        yield StorageViolation("throughput", message, f"one of {', '.join(str(rate) for rate in row.throughput)}")
    included = openzfs.iops_per_gib * share.capacity_gib
    if share.iops is not None and share.iops < included:
        message = f"{share.capacity_gib} GiB include {included} IOPS; {share.iops} are fewer"
        yield StorageViolation("iops", message, "leave it out, or set a higher value")
    yield from _backup_days(share.backup_days, openzfs.backups.days)


def _efs(mode: str, performance: str, provisioned: int | None) -> Iterator[StorageViolation]:
    """Yield violations of EFS's limits. Source: EFS User Guide, "Amazon EFS performance specifications"."""
    efs = facts().efs
    for value, other in efs.not_together:
        if {value, other} == {mode, performance}:
            yield StorageViolation(
                "performance", f"{value} and {other} exclude each other", "performance: general_purpose"
            )
    if mode == "provisioned" and provisioned is None:
        least = efs.provisioned_least_mibps
        yield StorageViolation(
            "throughput", "throughput: provisioned needs provisioned_mibps", f"provisioned_mibps: {least} or more"
        )
    if mode != "provisioned" and provisioned is not None:
        message = f"provisioned_mibps has no effect with throughput: {mode}"
        yield StorageViolation("provisioned_mibps", message, "throughput: provisioned, or leave it out")


def _backup_days(days: int, allowed: tuple[int, int]) -> Iterator[StorageViolation]:
    if not allowed[0] <= days <= allowed[1]:
        message = f"backups are kept for {allowed[0]} to {allowed[1]} days, not {days}"
        yield StorageViolation("backup_days", message, f"backup_days: {allowed[1]}")


def _unavailable(share: Share, region: str) -> Iterator[StorageViolation]:
    """Yield features that the region lacks; features without recorded regions are not checked.

    Source: landbridge/catalog/regions.yaml.
    """
    region_facts = regions().get(region)
    if region_facts is None:
        return
    if share.kind in services() and share.kind not in region_facts.services:
        yield StorageViolation(
            "kind", f"{region} has no {_NAMES[share.kind]}", "use another region, or another file system"
        )
    elif isinstance(share, FsxOpenZfs):
        if region_facts.openzfs is not None and share.deployment not in region_facts.openzfs:
            message = f"{region} has no FSx for OpenZFS {share.deployment}"
            yield StorageViolation("deployment", message, f"one of {', '.join(sorted(region_facts.openzfs))}")
    elif isinstance(share, FsxLustre):
        service = f"fsx_lustre_{share.deployment}"
        if service in services() and service not in region_facts.services:
            message = f"{region} has no FSx for Lustre {share.deployment}"
            yield StorageViolation("deployment", message, "use an older deployment, or another region")


def _bucket(url: str) -> str:
    return url.removeprefix("s3://").partition("/")[0]
