"""Rules about SageMaker beside the cluster."""

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
    """Training jobs use data that may be in AWS: what must stay on-prem has no bucket there for them to read.

    Source: Landbridge (docs/decisions/0006-data.md, docs/decisions/0022-names-and-sagemaker.md).
    """
    wanted, known = environment.mlops.sagemaker, environment.data_classes
    if wanted is None:
        return
    for index, name in enumerate(wanted.data_classes):
        path: DataPath = (*_PATH, "data_classes", index)
        if name not in known:
            message = f'unknown data class "{name}"'
            yield error(path, message, fix=suggestion(name, known), related=(("data_classes",),))
        elif "aws" not in known[name].sites:
            message = (
                f"data of class {name} may be at {', '.join(known[name].sites)} only: no job of SageMaker may see it"
            )
            related: tuple[DataPath, ...] = (("data_classes", name, "sites"),)
            yield error(path, message, fix="leave it out", related=related)
    if not wanted.data_classes and not job_classes(environment):
        message = "no data class may be in AWS, so that jobs of SageMaker have nothing to read"
        yield error(_PATH, message, fix="leave it out", related=(("data_classes",),))


@rule
def sagemaker_groups(environment: Environment) -> Iterator[Finding]:
    """Each group of models is named once: SageMaker has no two of one name.

    Source: SageMaker API Reference, CreateModelPackageGroup.
    """
    wanted = environment.mlops.sagemaker
    if wanted is None:
        return
    for index, key in enumerate(wanted.model_groups):
        path: DataPath = (*_PATH, "model_groups", index)
        if key in wanted.model_groups[:index]:
            yield error(path, f'there are two groups "{key}"', fix="name each once")


@rule
def sagemaker_without_subnet(environment: Environment) -> Iterator[Finding]:
    """Jobs run in the VPC's private subnets, so there are some.

    Source: Amazon SageMaker Developer Guide, "Give SageMaker training jobs access to resources in your Amazon VPC".
    """
    if environment.mlops.sagemaker is not None and not used_zones(environment):
        message = "nothing else is in AWS, so that jobs of SageMaker have no subnet to be in"
        yield error(_PATH, message, fix="add a pool, or a file system with a zone", related=POOL_ZONES)
