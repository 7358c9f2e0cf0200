"""SageMaker: model package groups, and training jobs that run."""

from collections.abc import Iterator

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Inputs, Item, ResourceType, Sweep
from landbridge.aws_resources.search import cluster_tag, delete_by

_NAME, _JOB = "ModelPackageGroupName", "TrainingJobName"


def _recover(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the model package group of this name."""
    name = inputs["modelPackageGroupName"]
    aws.ask("sagemaker", "describe_model_package_group", ModelPackageGroupName=name)
    return [str(name)]


def _search(aws: AwsClient, cluster: str) -> Iterator[Item]:
    for group in aws.all("sagemaker", "list_model_package_groups", "ModelPackageGroupSummaryList"):
        tags = aws.ask("sagemaker", "list_tags", ResourceArn=group["ModelPackageGroupArn"])["Tags"]
        if cluster_tag(cluster) in tags:
            yield {**group, "Tags": tags}


def _running(aws: AwsClient, cluster: str) -> Iterator[Item]:
    parameters = {"NameContains": f"{cluster}-", "StatusEquals": "InProgress"}
    for job in aws.all("sagemaker", "list_training_jobs", "TrainingJobSummaries", **parameters):
        tags = aws.all("sagemaker", "list_tags", "Tags", ResourceArn=job["TrainingJobArn"])
        if cluster_tag(cluster) in tags:
            yield {**job, "Tags": list(tags)}


RESOURCE_TYPES = (
    ResourceType(
        "training job", billed=True,
        sweep=Sweep(5, _running, _JOB, delete_by("sagemaker", "stop_training_job", _JOB, _JOB))),
    ResourceType(
        "model package group", "aws:sagemaker/modelPackageGroup:ModelPackageGroup", recover=_recover, holds_data=True,
        sweep=Sweep(160, _search, _NAME, delete_by("sagemaker", "delete_model_package_group", _NAME, _NAME))),
)  # fmt: skip
