"""IAM policies of an image build: the build instance, and Image Builder's lifecycle of old images, each for one image."""

from dataclasses import dataclass

from landbridge.plan.aws.access.iam_policies import ArnContext, allow, service_trust, session
from landbridge.plan.policy_document import document

#: Actions by which the SSM Agent receives commands; IAM has no resource level for them.
_SSM_MESSAGES = [
    "ec2messages:AcknowledgeMessage",
    "ec2messages:DeleteMessage",
    "ec2messages:FailMessage",
    "ec2messages:GetEndpoint",
    "ec2messages:GetMessages",
    "ec2messages:SendReply",
    "ssm:ListAssociations",
    "ssm:PutInventory",
]
#: Image Builder's own tag on its output images and snapshots.
_CREATED_BY_IMAGE_BUILDER = {"StringEquals": {"aws:ResourceTag/CreatedBy": "EC2 Image Builder"}}


@dataclass(frozen=True, slots=True)
class ImageBuildResources:
    """ARNs that a build uses: the archive of Ansible roles, the log group, and the Image Builder component."""

    archive: str
    log_group: str
    component: str


def builder_trust() -> str:
    """Return the trust policy of the build instance: only EC2 may assume the role."""
    return document([service_trust("ec2.amazonaws.com")])


def builder_policy(place: ArnContext, resources: ImageBuildResources) -> str:
    """Return the build instance's policy: fetch the roles, write logs, and run Image Builder's SSM commands; no access
    to secrets and data.

    Source: AWS Managed Policy Reference, AmazonSSMManagedInstanceCore and EC2InstanceProfileForImageBuilder, without
    permissions that a build does not use (read on 2026-11-25: s3:GetObject of arn:aws:s3:::ec2imagebuilder*).
    """
    in_region = {"StringEquals": {"aws:RequestedRegion": place.region}}
    reports = ["ssm:ListInstanceAssociations", "ssm:UpdateInstanceAssociationStatus"]
    aws_documents = f"arn:{place.partition}:ssm:{place.region}::document/AWS*"
    return document(
        [
            *session(place),
            allow("ReceiveSsmMessages", _SSM_MESSAGES, "*", in_region),
            allow("GetSsmDocuments", ["ssm:DescribeDocument", "ssm:GetDocument"], aws_documents),
            allow("UpdateAssociationStatus", reports, place.ec2("instance")),
            allow("GetRolesArchive", ["s3:GetObject"], resources.archive),
            # AWS's own buckets, from which the build instance downloads the program that runs components (AWSTOE).
            allow("GetImageBuilderResources", ["s3:GetObject"], f"arn:{place.partition}:s3:::ec2imagebuilder*/*"),
            allow("GetImageBuilderComponent", ["imagebuilder:GetComponent"], resources.component),
            allow(
                "WriteLogs",
                ["logs:CreateLogStream", "logs:PutLogEvents"],
                f"{resources.log_group.removesuffix(':*')}:*",
            ),
        ]
    )


def prune_trust(account: str) -> str:
    """Return the trust policy of the lifecycle role: only Image Builder on behalf of this account."""
    return document([service_trust("imagebuilder.amazonaws.com", account)])


def prune_policy(place: ArnContext, name: str) -> str:
    """Return the lifecycle policy: deregister old images of one name, and delete their snapshots.

    Source: AWS Managed Policy Reference, EC2ImageBuilderLifecycleExecutionPolicy, without containers and other images.
    """
    images, snapshots = place.ec2("image", ""), place.ec2("snapshot", "")
    is_own_image = {"StringEquals": {**_CREATED_BY_IMAGE_BUILDER["StringEquals"], **place.owned["StringEquals"]}}
    image = f"arn:{place.partition}:imagebuilder:{place.region}:{place.account}:image/{name}/*"
    deprecation_tag_only = {
        "ForAllValues:StringEquals": {"aws:TagKeys": ["DeprecatedBy"]},
        "StringEquals": {**is_own_image["StringEquals"], "aws:RequestTag/DeprecatedBy": "EC2 Image Builder"},
        "Null": {"aws:TagKeys": "false"},
    }
    return document(
        [
            allow("DescribeImages", ["ec2:DescribeImages", "tag:GetResources"], "*"),
            allow("DeregisterImages", ["ec2:DeregisterImage", "ec2:DescribeImageAttribute"], images, is_own_image),
            allow("DeleteSnapshots", ["ec2:DeleteSnapshot"], snapshots, _CREATED_BY_IMAGE_BUILDER),
            allow("TagDeprecatedImages", ["ec2:CreateTags"], [images, snapshots], deprecation_tag_only),
            allow("DeleteImageBuilderImage", ["imagebuilder:DeleteImage"], image),
        ]
    )
