"""Rules about SageMaker."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error
from landbridge.plan.aws.sagemaker import job_classes
from landbridge.plan.network.subnets import used_zones
from landbridge.rules.environment_paths import POOL_ZONES, suggestion
from landbridge.rules.registry import rule

_PATH: DataPath = ("mlops", "sagemaker")


@rule(suppressible=False)
def sagemaker_classes(environment: Environment) -> Iterator[Finding]:
    """Training jobs have data classes that may be in AWS: other classes have no bucket there.

    Source: Landbridge (docs/decisions/0006-data.md, docs/explanation/names.md).
    """
    sagemaker, data_classes = environment.mlops.sagemaker, environment.data_classes
    if sagemaker is None:
        return
    for index, name in enumerate(sagemaker.data_classes):
        path: DataPath = (*_PATH, "data_classes", index)
        if name not in data_classes:
            message = f'unknown data class "{name}"'
            yield error(path, message, fix=suggestion(name, data_classes), related=(("data_classes",),))
        elif "aws" not in data_classes[name].sites:
            message = f"data of class {name} may be at {', '.join(data_classes[name].sites)} only: SageMaker jobs cannot read it"
            related: tuple[DataPath, ...] = (("data_classes", name, "sites"),)
            yield error(path, message, fix="remove the class", related=related)
    if not sagemaker.data_classes and not job_classes(environment):
        message = "no data class may be in AWS, so SageMaker jobs have no data to read"
        yield error(_PATH, message, fix="remove sagemaker", related=(("data_classes",),))


@rule
def sagemaker_groups(environment: Environment) -> Iterator[Finding]:
    """Each model package group is named once: SageMaker has no two of one name.

    Source: SageMaker API Reference, CreateModelPackageGroup.
    """
    sagemaker = environment.mlops.sagemaker
    if sagemaker is None:
        return
    for index, key in enumerate(sagemaker.model_groups):
        path: DataPath = (*_PATH, "model_groups", index)
        if key in sagemaker.model_groups[:index]:
            yield error(path, f'the model package group "{key}" is repeated', fix="remove it")


@rule
def sagemaker_without_subnet(environment: Environment) -> Iterator[Finding]:
    """The VPC has private subnets for SageMaker jobs.

    Source: Amazon SageMaker Developer Guide, "Give SageMaker training jobs access to resources in your Amazon VPC".
    """
    if environment.mlops.sagemaker is not None and not used_zones(environment):
        message = "no pool or file system names a zone, so SageMaker jobs have no subnet"
        yield error(_PATH, message, fix="add a pool, or a file system with a zone", related=POOL_ZONES)
