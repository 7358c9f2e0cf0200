"""What the instance that builds an image may do, and what Image Builder may remove: each for one image alone."""

from dataclasses import dataclass

from landbridge.plan.aws.iam_policies import ArnContext, allow, service_trust, session
from landbridge.plan.policy_document import document

#: By which Systems Manager's agent gets its orders; they know no resources.
_ORDERS = [
    "ec2messages:AcknowledgeMessage",
    "ec2messages:DeleteMessage",
    "ec2messages:FailMessage",
    "ec2messages:GetEndpoint",
    "ec2messages:GetMessages",
    "ec2messages:SendReply",
    "ssm:ListAssociations",
    "ssm:PutInventory",
]
#: Image Builder's own tag on everything that comes out of it.
_MADE = {"StringEquals": {"aws:ResourceTag/CreatedBy": "EC2 Image Builder"}}


@dataclass(frozen=True, slots=True)
class ImageBuildResources:
    """What a build uses, by ARN: the archive with the roles, the log group, and the component that says what to do."""

    archive: str
    log_group: str
    component: str


def builder_trust() -> str:
    """Only EC2 may hand a builder its role."""
    return document([service_trust("ec2.amazonaws.com")])


def builder_policy(place: ArnContext, parts: ImageBuildResources) -> str:
    """Fetch the roles, say what is being done, and answer Image Builder. No secret, no parameter, no bucket of data.

    Source: AWS Managed Policy Reference, AmazonSSMManagedInstanceCore and EC2InstanceProfileForImageBuilder, less what a build does not use.
    """
    here = {"StringEquals": {"aws:RequestedRegion": place.region}}
    reports = ["ssm:ListInstanceAssociations", "ssm:UpdateInstanceAssociationStatus"]
    theirs = f"arn:{place.partition}:ssm:{place.region}::document/AWS*"
    return document(
        [
            *session(place),
            allow("TakeOrders", _ORDERS, "*", here),
            allow("ReadOrders", ["ssm:DescribeDocument", "ssm:GetDocument"], theirs),
            allow("Report", reports, place.ec2("instance")),
            allow("FetchRoles", ["s3:GetObject"], parts.archive),
            allow("ReadSteps", ["imagebuilder:GetComponent"], parts.component),
            allow("Log", ["logs:CreateLogStream", "logs:PutLogEvents"], f"{parts.log_group.removesuffix(':*')}:*"),
        ]
    )


def prune_trust(account: str) -> str:
    """Only Image Builder, for this account."""
    return document([service_trust("imagebuilder.amazonaws.com", account)])


def prune_policy(place: ArnContext, name: str) -> str:
    """Remove old images of one name, and their snapshots.

    Source: AWS Managed Policy Reference, EC2ImageBuilderLifecycleExecutionPolicy, without containers and other images.
    """
    images, snapshots = place.ec2("image", ""), place.ec2("snapshot", "")
    ours = {"StringEquals": {**_MADE["StringEquals"], **place.owned["StringEquals"]}}
    image = f"arn:{place.partition}:imagebuilder:{place.region}:{place.account}:image/{name}/*"
    marked = {
        "ForAllValues:StringEquals": {"aws:TagKeys": ["DeprecatedBy"]},
        "StringEquals": {**ours["StringEquals"], "aws:RequestTag/DeprecatedBy": "EC2 Image Builder"},
        "Null": {"aws:TagKeys": "false"},
    }
    return document(
        [
            allow("Find", ["ec2:DescribeImages", "tag:GetResources"], "*"),
            allow("Retire", ["ec2:DeregisterImage", "ec2:DescribeImageAttribute"], images, ours),
            allow("RemoveDisks", ["ec2:DeleteSnapshot"], snapshots, _MADE),
            allow("Mark", ["ec2:CreateTags"], [images, snapshots], marked),
            allow("Forget", ["imagebuilder:DeleteImage"], image),
        ]
    )
