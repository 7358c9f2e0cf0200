"""FSx's limits of sizes, throughputs and options. The figures come from the catalogue."""

from collections.abc import Mapping
from typing import Any

from landbridge.catalog.aws.impact import impact_facts
from landbridge.catalog.aws.storage import storage as facts
from sandbox.aws_emulator.server.errors import CloudError

_TOKENS = {
    "LUSTRE": "aws:fsx/lustreFileSystem:LustreFileSystem",
    "OPENZFS": "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    "ONTAP": "aws:fsx/ontapFileSystem:OntapFileSystem",
}
_ONTAP_LEAST_GIB = 1024
_STORAGE_TYPES = {"SSD": "ssd", "HDD": "hdd"}


def bad(message: str) -> CloudError:
    return CloudError("BadRequest", message)


def check_lustre(request: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
    """Raise BadRequest for a Lustre file system that AWS does not offer.

    Source: FSx API Reference, CreateFileSystemLustreConfiguration.
    """
    known, deployment = facts().fsx_lustre, str(configuration.get("DeploymentType", "SCRATCH_1")).lower()
    if len(request["SubnetIds"]) != known.zones:
        raise bad(f"Exactly {known.zones} subnet ID must be specified for a LUSTRE file system.")
    if deployment in known.own_key_not_on and request.get("KmsKeyId"):
        raise bad("A KMS key cannot be specified for scratch file systems.")
    backup_settings = {"AutomaticBackupRetentionDays", "CopyTagsToBackups"} & set(configuration)
    if backup_settings and deployment in known.backups.not_on:
        raise bad("Backups are not supported on scratch file systems.")
    version = request.get("FileSystemTypeVersion")
    if version is not None and deployment not in known.versions.get(version, ()):
        raise bad(f"FileSystemTypeVersion {version} is not valid for deployment type {deployment.upper()}.")
    if configuration.get("EfaEnabled") and (
        deployment != known.efa.deployment or not configuration.get("MetadataConfiguration")
    ):
        raise bad("EfaEnabled needs deployment type PERSISTENT_2 with a metadata configuration.")
    if (
        configuration.get("ImportPath") or configuration.get("ExportPath")
    ) and deployment in known.repositories.older_way_not_on:
        raise bad(f"ImportPath and ExportPath are not supported for deployment type {deployment.upper()}.")
    if request.get("StorageType") == "INTELLIGENT_TIERING":
        _check_intelligent_tiering(request, configuration)
        return
    storage = _STORAGE_TYPES.get(str(request.get("StorageType", "SSD")), "")
    if not known.rows(deployment, storage):
        raise bad(f"Deployment type {deployment.upper()} has no storage type {request.get('StorageType')}.")
    cache = known.drive_cache
    if ((deployment, storage) == (cache.deployment, cache.storage)) != (
        configuration.get("DriveCacheType") is not None
    ):
        raise bad("DriveCacheType is required for HDD storage, and for nothing else.")
    lustre_size(deployment, storage, request.get("StorageCapacity"), configuration.get("PerUnitStorageThroughput"))
    if (
        configuration.get("EfaEnabled")
        and request["StorageCapacity"] % known.efa.step_gib[configuration["PerUnitStorageThroughput"]]
    ):
        raise bad("StorageCapacity is not valid for an EFA-enabled file system.")


def lustre_size(deployment: str, storage: str, gib: Any, throughput: Any) -> None:
    """Raise BadRequest for a size (GiB) or throughput (MB/s per TiB) that the deployment type does not have."""
    rows = facts().fsx_lustre.rows(deployment, storage)
    choices = sorted(rate for row in rows for rate in row.throughput)
    if choices and throughput not in choices:
        raise bad(f"PerUnitStorageThroughput {throughput} is not valid; valid values are {choices}.")
    if not choices and throughput is not None:
        raise bad(f"PerUnitStorageThroughput cannot be specified for deployment type {deployment.upper()}.")
    fitting = [row for row in rows if not row.throughput or throughput in row.throughput]
    if gib is None or not any(row.has_size(gib) for row in fitting):
        raise bad(f"StorageCapacity {gib} is not valid for deployment type {deployment.upper()}.")


def _check_intelligent_tiering(request: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
    known, rate = facts().fsx_lustre.intelligent_tiering, configuration.get("ThroughputCapacity")
    if (
        str(configuration.get("DeploymentType")).lower() != known.deployment
        or request.get("StorageCapacity") is not None
    ):
        raise bad("INTELLIGENT_TIERING needs deployment type PERSISTENT_2, and no StorageCapacity.")
    if not rate or rate % known.throughput_step or rate > known.throughput_max:
        raise bad(f"ThroughputCapacity must be a multiple of {known.throughput_step}.")
    if (configuration.get("MetadataConfiguration") or {}).get("Iops") not in known.metadata_iops:
        raise bad(f"MetadataConfiguration Iops must be one of {known.metadata_iops}.")
    if not configuration.get("DataReadCacheConfiguration"):
        raise bad("DataReadCacheConfiguration is required for INTELLIGENT_TIERING.")


def check_openzfs(request: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
    """Raise BadRequest for an OpenZFS file system that AWS does not offer.

    Source: FSx API Reference, CreateFileSystemOpenZFSConfiguration.
    """
    known, deployment = facts().fsx_openzfs, str(configuration.get("DeploymentType", "")).lower()
    row = known.deployments.get(deployment)
    if row is None:
        raise bad(f"DeploymentType {deployment.upper()} is not valid.")
    if len(request["SubnetIds"]) != row.zones:
        raise bad(f"Exactly {row.zones} subnet IDs must be specified for {deployment.upper()}.")
    if row.zones > 1 and configuration.get("PreferredSubnetId") not in request["SubnetIds"]:
        raise bad("PreferredSubnetId must be one of SubnetIds.")
    openzfs_throughput(deployment, configuration.get("ThroughputCapacity"))
    low, high = known.capacity_gib
    gib = request.get("StorageCapacity")
    if gib is None or not low <= gib <= high:
        raise bad(f"StorageCapacity must be between {low} and {high}.")
    iops = (configuration.get("DiskIopsConfiguration") or {}).get("Iops")
    if iops is not None and iops < known.iops_per_gib * gib:
        raise bad(f"Iops must be at least {known.iops_per_gib} per GiB of storage.")


def openzfs_throughput(deployment: str, rate: Any) -> None:
    """Raise BadRequest for a throughput (MB/s) that the deployment type does not have."""
    row = facts().fsx_openzfs.deployments[deployment]
    if rate not in row.throughput:
        raise bad(f"ThroughputCapacity {rate} is not valid; valid values are {list(row.throughput)}.")


def check_growth(system: Mapping[str, Any], deployment: str, size: Any, hours_since: float) -> None:
    """Raise BadRequest for a new size (GiB) that impact.yaml lists as refused. `hours_since`: the last growth."""
    rule = impact_facts().types[_TOKENS[system["FileSystemType"]]].properties["storageCapacity"]
    refusal = rule.refusal(system["StorageCapacity"], size, hours_since, {"deploymentType": deployment.upper()})
    if refusal is not None:
        raise bad(f"{refusal[0].says}.")


def can_be_backed_up(system: Mapping[str, Any], linked: bool) -> bool:
    """Return False for scratch file systems and those linked to a bucket. Source: FSx API Reference, CreateBackup."""
    known, configuration = facts().fsx_lustre.backups, system.get("LustreConfiguration")
    if configuration is None:
        return True
    scratch = str(configuration.get("DeploymentType", "SCRATCH_1")).lower() in known.not_on
    return not scratch and not (known.not_with_repositories and (linked or bool(configuration.get("ImportPath"))))


def folders_clash(path: str, other_path: str) -> bool:
    """Return whether one folder is inside the other."""
    first, second = path.rstrip("/") + "/", other_path.rstrip("/") + "/"
    return first.startswith(second) or second.startswith(first)


def check_ontap(request: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
    """Raise BadRequest for subnets and a size that no ONTAP file system has; other settings are not checked.

    Source: FSx API Reference, CreateFileSystemOntapConfiguration and CreateFileSystem (StorageCapacity, SubnetIds).
    """
    deployment = str(configuration.get("DeploymentType"))
    zones = {"SINGLE_AZ_1": 1, "SINGLE_AZ_2": 1, "MULTI_AZ_1": 2, "MULTI_AZ_2": 2}.get(deployment)
    if zones is None:
        raise bad(f"DeploymentType {deployment} is not valid for an ONTAP file system.")
    if len(request["SubnetIds"]) != zones:
        raise bad(f"Exactly {zones} subnet IDs must be specified for deployment type {deployment}.")
    if zones > 1 and configuration.get("PreferredSubnetId") not in request["SubnetIds"]:
        raise bad("PreferredSubnetId must be one of the subnet IDs.")
    if request.get("StorageCapacity", 0) < _ONTAP_LEAST_GIB:
        raise bad(f"StorageCapacity must be at least {_ONTAP_LEAST_GIB} GiB for an ONTAP file system.")
