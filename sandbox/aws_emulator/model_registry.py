"""SageMaker model registry: operations that moto does not have, and SageMaker's errors.

Source: SageMaker API Reference, CreateModelPackageGroup, DeleteModelPackageGroup, DeleteModelPackage, UpdateModelPackage, AddTags.
"""

from typing import Any

from moto.core.responses import EmptyResult
from moto.sagemaker.exceptions import ConflictException, ValidationError
from moto.sagemaker.models import SageMakerModelBackend
from moto.sagemaker.responses import SageMakerResponse

from sandbox.aws_emulator.emulator_state import EmulatorState

_create = SageMakerModelBackend.create_model_package_group
_add = SageMakerModelBackend.add_tags
_update = SageMakerModelBackend.update_model_package


def install(emulator: EmulatorState) -> None:
    """Install these operations in moto. Global to the process, as moto's state is."""
    SageMakerModelBackend.create_model_package_group = _create_once
    SageMakerModelBackend.add_tags = _overwrite_tags
    SageMakerModelBackend.update_model_package = _keep_metadata
    SageMakerResponse.delete_model_package_group = _delete
    SageMakerResponse.delete_model_package = _delete_version


def _create_once(backend: Any, model_package_group_name: str, *arguments: Any, **named: Any) -> Any:
    """Create a group; raise an error for an existing name (moto replaces the existing group)."""
    if model_package_group_name in backend.model_package_groups:
        raise ValidationError(f"Model Package Group already exists: {model_package_group_name}")
    return _create(backend, model_package_group_name, *arguments, **named)


def _overwrite_tags(backend: Any, arn: str, tags: list[dict[str, str]]) -> Any:
    """Replace tags of the same key (moto stores both)."""
    backend.delete_tags(arn, [tag["Key"] for tag in tags])
    return _add(backend, arn, tags)


def _keep_metadata(backend: Any, model_package_arn: str, **named: Any) -> Any:
    """Update a version; metadata that the request does not have stay (moto deletes them)."""
    known = backend.describe_model_package(model_package_arn)
    metadata = {**(known.customer_metadata_properties or {}), **(named.pop("customer_metadata_properties") or {})}
    return _update(backend, model_package_arn, customer_metadata_properties=metadata, **named)


def _delete(response: Any) -> Any:
    backend, name = response.sagemaker_backend, response._get_param("ModelPackageGroupName")
    group = backend.describe_model_package_group(name)
    if any(model_package.model_package_group_name == name for model_package in backend.model_packages.values()):
        raise ConflictException(f"Model Package Group {group.arn} cannot be deleted: it has model packages.")
    del backend.model_package_groups[name]
    return EmptyResult()


def _delete_version(response: Any) -> Any:
    backend, name = response.sagemaker_backend, response._get_param("ModelPackageName")
    if name not in backend.model_packages:
        raise ValidationError(f"ModelPackage {name} does not exist.")
    del backend.model_packages[name]
    return EmptyResult()
