"""FSx data repository associations (a folder linked to a bucket), and tags of FSx resources."""

import uuid
from typing import Any

from moto.core.utils import unix_time
from moto.s3.models import s3_backends

from landbridge.catalog.aws.storage import storage as facts
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.storage.fsx_limits import bad, folders_clash


def file_system(world: EmulatorState, region: str, one: str) -> dict[str, Any]:
    """A file system, or FSx's error."""
    file_system = world.file_systems.get((region, one))
    if file_system is None:
        raise CloudError("FileSystemNotFound", f"File system '{one}' does not exist.")
    return file_system


def of(world: EmulatorState, region: str, one: str) -> list[dict[str, Any]]:
    """The links of a file system."""
    return [link for (place, _), link in world.file_links.items() if place == region and link["FileSystemId"] == one]


def create(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """CreateDataRepositoryAssociation."""
    token = request.pop("ClientRequestToken", None)
    made = world.tokens.once(f"fsx-link/{response.region}", token, request, lambda: _make(world, response, request))
    return {"Association": {**made, "Lifecycle": "CREATING"}}


def _make(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    known, system = facts().fsx_lustre.repositories, file_system(world, response.region, request["FileSystemId"])
    lustre_configuration = system.get("LustreConfiguration")
    if (
        lustre_configuration is None
        or str(lustre_configuration.get("DeploymentType", "SCRATCH_1")).lower() in known.not_on
    ):
        raise bad("Data repository associations are not supported on this file system.")
    if system.get("FileSystemTypeVersion", "2.10") not in known.versions:
        raise bad("Data repository associations need Lustre 2.12 or newer.")
    if system["StorageType"] == "INTELLIGENT_TIERING":
        raise bad("Data repository associations are not supported on INTELLIGENT_TIERING.")
    if lustre_configuration.get("ImportPath") or lustre_configuration.get("ExportPath"):
        raise bad("A file system with an import or export path cannot have data repository associations.")
    if lustre_configuration.get("AutomaticBackupRetentionDays"):
        raise bad("A file system with automatic backups cannot have data repository associations.")
    others = of(world, response.region, system["FileSystemId"])
    if len(others) >= known.most:
        raise CloudError("ServiceLimitExceeded", f"A file system can have {known.most} data repository associations.")
    for other in others:
        if folders_clash(request["FileSystemPath"], other["FileSystemPath"]):
            raise bad(f"FileSystemPath overlaps with that of {other['AssociationId']}.")
    _bucket(response, request["DataRepositoryPath"])
    one = f"dra-{uuid.uuid4().hex[:17]}"
    arn = f"arn:aws:fsx:{response.region}:{response.current_account}:association/{system['FileSystemId']}/{one}"
    kept = ("FileSystemPath", "DataRepositoryPath", "BatchImportMetaDataOnCreate", "ImportedFileChunkSize", "S3")
    found = {
        "AssociationId": one,
        "ResourceARN": arn,
        "FileSystemId": system["FileSystemId"],
        "Lifecycle": "AVAILABLE",
        "CreationTime": unix_time(),
        "ImportedFileChunkSize": 1024,
        "Tags": request.get("Tags", []),
        **{key: request[key] for key in kept if key in request},
    }
    world.file_links[(response.region, one)] = found
    return found


def _bucket(response: Any, path: str) -> None:
    name = path.removeprefix("s3://").partition("/")[0]
    backend = s3_backends[response.current_account]["aws"]
    if not path.startswith("s3://") or name not in backend.buckets:
        raise bad(f"The bucket of {path} does not exist.")
    if backend.buckets[name].region_name != response.region:
        raise bad(f"The bucket of {path} is in another region; automatic import needs the same.")


def _link(world: EmulatorState, response: Any, one: str) -> dict[str, Any]:
    link = world.file_links.get((response.region, one))
    if link is None:
        raise CloudError("DataRepositoryAssociationNotFound", f"Association '{one}' does not exist.")
    return link


def describe(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """DescribeDataRepositoryAssociations, by id or by file system."""
    if request.get("AssociationIds"):
        return {"Associations": [_link(world, response, one) for one in request["AssociationIds"]]}
    named = {own["Name"]: own["Values"] for own in request.get("Filters", [])}
    every = [link for (region, _), link in world.file_links.items() if region == response.region]
    systems = named.get("file-system-id")
    return {"Associations": [link for link in every if systems is None or link["FileSystemId"] in systems]}


def update(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """UpdateDataRepositoryAssociation."""
    found = _link(world, response, request["AssociationId"])
    found |= {key: request[key] for key in ("ImportedFileChunkSize", "S3") if key in request}
    return {"Association": {**found, "Lifecycle": "UPDATING"}}


def delete(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """DeleteDataRepositoryAssociation."""
    association_id = request["AssociationId"]
    _link(world, response, association_id)
    world.file_links.pop((response.region, association_id))
    return {"AssociationId": association_id, "Lifecycle": "DELETING"}


def _tagged(world: EmulatorState, arn: str) -> dict[str, Any]:
    for found in (*world.file_systems.values(), *world.file_links.values()):
        if found["ResourceARN"] == arn:
            return found
    raise CloudError("ResourceNotFound", f"There is no resource {arn}.")


def list_tags(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """ListTagsForResource."""
    return {"Tags": _tagged(world, request["ResourceARN"])["Tags"]}


def tag(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """TagResource."""
    found = _tagged(world, request["ResourceARN"])
    news = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
    kept = {tag["Key"]: tag["Value"] for tag in found["Tags"]} | news
    found["Tags"] = [{"Key": key, "Value": value} for key, value in kept.items()]
    return {}


def untag(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """UntagResource."""
    found = _tagged(world, request["ResourceARN"])
    found["Tags"] = [tag for tag in found["Tags"] if tag["Key"] not in request["TagKeys"]]
    return {}
