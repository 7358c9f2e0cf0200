"""EC2 Image Builder pipelines: start of a pipeline, and list of its builds."""

from dataclasses import dataclass
from typing import Any

from landbridge.aws_api.client import AwsClient

#: IAM actions that `landbridge image` needs.
NEEDS = (
    "imagebuilder:ListImagePipelines",
    "imagebuilder:ListImagePipelineImages",
    "imagebuilder:StartImagePipelineExecution",
)


@dataclass(frozen=True, slots=True)
class Built:
    """One build of a pipeline. `ami` is set when the build is complete, `why` (the reason) when it failed."""

    version: str
    status: str
    created: str
    ami: str | None
    why: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for `--format json`."""
        fields = {"version": self.version, "status": self.status, "created": self.created}
        return {**fields, "ami": self.ami, "why": self.why}


def pipeline(aws: AwsClient, cluster: str, name: str) -> str | None:
    """Return the ARN of the pipeline of a cluster's image; None before it exists. Raises AwsRefusal."""
    full_name = f"{cluster}-{name}"
    filters = [{"name": "name", "values": [full_name]}]
    image_pipeline_list = aws.ask("imagebuilder", "list_image_pipelines", filters=filters)["imagePipelineList"]
    return next((str(summary["arn"]) for summary in image_pipeline_list if summary["name"] == full_name), None)


def start(aws: AwsClient, arn: str) -> str:
    """Start a pipeline; return the version that it builds. Raises AwsRefusal."""
    response = aws.ask("imagebuilder", "start_image_pipeline_execution", imagePipelineArn=arn)
    return _version(str(response["imageBuildVersionArn"]))


def built(aws: AwsClient, arn: str, region: str) -> tuple[Built, ...]:
    """Return the complete and running builds of a pipeline, newest first. Raises AwsRefusal."""
    listed = aws.all("imagebuilder", "list_image_pipeline_images", "imageSummaryList", imagePipelineArn=arn)
    return tuple(sorted((_built(summary, region) for summary in listed), key=lambda build: build.created, reverse=True))


def _built(raw: Any, region: str) -> Built:
    state = raw.get("state") or {}
    amis = (raw.get("outputResources") or {}).get("amis") or ()
    return Built(
        version=_version(str(raw["arn"])),
        status=str(state.get("status", "")).lower().replace("_", " "),
        created=str(raw.get("dateCreated", "")),
        ami=next((str(ami["image"]) for ami in amis if ami.get("region") == region and "image" in ami), None),
        why=state.get("reason"),
    )


def _version(arn: str) -> str:
    """Return the version in an image's ARN, such as `1.0.7/2`."""
    return "/".join(arn.rsplit("/", 2)[1:])
