"""Approvals of model packages in SageMaker, changed so that they follow the alias `champion` in a registry."""

from collections.abc import Collection, Iterator

from landbridge.aws_api.client import AwsClient
from landbridge.live.models.registry import ModelRegistry
from landbridge.models.approvals import DIGEST_KEY, VERSION_KEY, ApprovalChange, ModelPackageState, approval_changes
from landbridge.models.version_tags import CLASS_TAG

SERVICE = "sagemaker"


def package_states(aws: AwsClient, group: str) -> Iterator[ModelPackageState]:
    """Yield the model packages of a group. Raises AwsRefusal."""
    summaries = aws.all(SERVICE, "list_model_packages", "ModelPackageSummaryList", ModelPackageGroupName=group)
    for arn in (str(summary["ModelPackageArn"]) for summary in summaries):
        shown = aws.ask(SERVICE, "describe_model_package", ModelPackageName=arn)
        metadata = shown.get("CustomerMetadataProperties") or {}
        approval = str(shown.get("ModelApprovalStatus", ""))
        yield ModelPackageState(arn, approval, metadata.get(VERSION_KEY, ""), metadata.get(DIGEST_KEY, ""))


def follow_champion(
    aws: AwsClient, registry: ModelRegistry, name: str, group: str, classes: Collection[str]
) -> Iterator[ApprovalChange]:
    """Change the approvals of a group so that they follow a model's champion, and yield the changes. Repeating it
    changes nothing.

    `classes`: data classes whose models may be in AWS. Raises AwsRefusal and RegistryError.
    """
    versions = [version for version in registry.versions(name) if version.digest]
    digests = {each.version: each.digest for each in versions if each.tags.get(CLASS_TAG) in classes}
    for change in approval_changes(package_states(aws, group), registry.aliases(name), digests):
        if change.approval != change.package.approval:
            aws.ask(
                SERVICE,
                "update_model_package",
                ModelPackageArn=change.package.arn,
                ModelApprovalStatus=change.approval,
                ApprovalDescription=change.reason,
            )
        yield change
