"""FSx data repository associations (a folder linked to an S3 bucket), and tags of FSx resources."""

import uuid
from typing import Any

from moto.core.utils import unix_time
from moto.s3.models import s3_backends

from landbridge.catalog.aws.storage import storage as facts
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.storage.fsx_limits import bad, folders_clash


def file_system(emulator: EmulatorState, region: str, file_system_id: str) -> dict[str, Any]:
    """Return a file system; raise FileSystemNotFound if it does not exist."""
    file_system = emulator.file_systems.get((region, file_system_id))
    if file_system is None:
        raise CloudError("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")
    return file_system


def of(emulator: EmulatorState, region: str, file_system_id: str) -> list[dict[str, Any]]:
    """Return the data repository associations of a file system."""
    return [
        association
        for (association_region, _), association in emulator.file_links.items()
        if association_region == region and association["FileSystemId"] == file_system_id
    ]


def create(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer CreateDataRepositoryAssociation."""
    token = request.pop("ClientRequestToken", None)
    association = emulator.tokens.once(
        f"fsx-link/{response.region}", token, request, lambda: _create_association(emulator, response, request)
    )
    return {"Association": {**association, "Lifecycle": "CREATING"}}


def _create_association(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    repositories, system = (
        facts().fsx_lustre.repositories,
        file_system(emulator, response.region, request["FileSystemId"]),
    )
    lustre_configuration = system.get("LustreConfiguration")
    if (
        lustre_configuration is None
        or str(lustre_configuration.get("DeploymentType", "SCRATCH_1")).lower() in repositories.not_on
    ):
        raise bad("Data repository associations are not supported on this file system.")
    if system.get("FileSystemTypeVersion", "2.10") not in repositories.versions:
        raise bad("Data repository associations need Lustre 2.12 or newer.")
    if system["StorageType"] == "INTELLIGENT_TIERING":
        raise bad("Data repository associations are not supported on INTELLIGENT_TIERING.")
    if lustre_configuration.get("ImportPath") or lustre_configuration.get("ExportPath"):
        raise bad("A file system with an import or export path cannot have data repository associations.")
    if lustre_configuration.get("AutomaticBackupRetentionDays"):
        raise bad("A file system with automatic backups cannot have data repository associations.")
    others = of(emulator, response.region, system["FileSystemId"])
    if len(others) >= repositories.most:
        raise CloudError(
            "ServiceLimitExceeded", f"A file system can have {repositories.most} data repository associations."
        )
    for other in others:
        if folders_clash(request["FileSystemPath"], other["FileSystemPath"]):
            raise bad(f"FileSystemPath overlaps with that of {other['AssociationId']}.")
    _check_bucket(response, request["DataRepositoryPath"])
    association_id = f"dra-{uuid.uuid4().hex[:17]}"
    path = f"association/{system['FileSystemId']}/{association_id}"
    arn = f"arn:aws:fsx:{response.region}:{response.current_account}:{path}"
    copied_keys = ("FileSystemPath", "DataRepositoryPath", "BatchImportMetaDataOnCreate", "ImportedFileChunkSize", "S3")
    association = {
        "AssociationId": association_id,
        "ResourceARN": arn,
        "FileSystemId": system["FileSystemId"],
        "Lifecycle": "AVAILABLE",
        "CreationTime": unix_time(),
        "ImportedFileChunkSize": 1024,
        "Tags": request.get("Tags", []),
        **{key: request[key] for key in copied_keys if key in request},
    }
    emulator.file_links[(response.region, association_id)] = association
    return association


def _check_bucket(response: Any, path: str) -> None:
    name = path.removeprefix("s3://").partition("/")[0]
    backend = s3_backends[response.current_account]["aws"]
    if not path.startswith("s3://") or name not in backend.buckets:
        raise bad(f"The bucket of {path} does not exist.")
    if backend.buckets[name].region_name != response.region:
        raise bad(f"The bucket of {path} is in another region; automatic import needs the same.")


def _association(emulator: EmulatorState, response: Any, association_id: str) -> dict[str, Any]:
    association = emulator.file_links.get((response.region, association_id))
    if association is None:
        raise CloudError("DataRepositoryAssociationNotFound", f"Association '{association_id}' does not exist.")
    return association


def describe(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer DescribeDataRepositoryAssociations, by id or by file system."""
    if request.get("AssociationIds"):
        return {"Associations": [_association(emulator, response, id_) for id_ in request["AssociationIds"]]}
    filters = {row["Name"]: row["Values"] for row in request.get("Filters", [])}
    in_region = [association for (region, _), association in emulator.file_links.items() if region == response.region]
    systems = filters.get("file-system-id")
    return {"Associations": [row for row in in_region if systems is None or row["FileSystemId"] in systems]}


def update(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer UpdateDataRepositoryAssociation."""
    association = _association(emulator, response, request["AssociationId"])
    association |= {key: request[key] for key in ("ImportedFileChunkSize", "S3") if key in request}
    return {"Association": {**association, "Lifecycle": "UPDATING"}}


def delete(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer DeleteDataRepositoryAssociation."""
    association_id = request["AssociationId"]
    _association(emulator, response, association_id)
    emulator.file_links.pop((response.region, association_id))
    return {"AssociationId": association_id, "Lifecycle": "DELETING"}


def _tagged_resource(emulator: EmulatorState, arn: str) -> dict[str, Any]:
    for resource in (*emulator.file_systems.values(), *emulator.file_links.values()):
        if resource["ResourceARN"] == arn:
            return resource
    raise CloudError("ResourceNotFound", f"There is no resource {arn}.")


def list_tags(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer ListTagsForResource."""
    return {"Tags": _tagged_resource(emulator, request["ResourceARN"])["Tags"]}


def tag(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer TagResource."""
    resource = _tagged_resource(emulator, request["ResourceARN"])
    new_tags = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
    merged = {tag["Key"]: tag["Value"] for tag in resource["Tags"]} | new_tags
    resource["Tags"] = [{"Key": key, "Value": value} for key, value in merged.items()]
    return {}


def untag(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer UntagResource."""
    resource = _tagged_resource(emulator, request["ResourceARN"])
    resource["Tags"] = [tag for tag in resource["Tags"] if tag["Key"] not in request["TagKeys"]]
    return {}
