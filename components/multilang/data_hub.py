"""`landbridge:index:DataHub`."""

from typing import NotRequired

import pulumi

from components import data_hub
from components.multilang.inputs import OwnedInputs, environment_of
from components.parts.adapter import Adapter
from landbridge.plan.aws.storage.data_hub import DataHubArgs, data_hub_args


class DataHubInputs(OwnedInputs):
    """S3 buckets for data classes."""

    classes: list[str]
    """Data classes: each has a bucket and a KMS key."""
    protect: NotRequired[bool]
    """Pulumi refuses to remove buckets and keys. Default: true."""


class DataHub(Adapter):
    """An S3 bucket and a KMS key for each data class: TLS only, versioned, encrypted with its own key, no public access."""

    buckets: pulumi.Output[dict[str, str]]
    """Bucket names by data class."""
    key_arns: pulumi.Output[dict[str, str]]
    """Key ARNs by data class."""

    def __init__(self, name: str, args: DataHubInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            name,
            args,
            opts,
            plan=_plan,
            component=data_hub.DataHub,
            outputs=lambda hub: {
                "buckets": {data_class: bucket.bucket for data_class, bucket in hub.buckets.items()},
                "key_arns": {data_class: key.arn for data_class, key in hub.keys.items()},
            },
        )


def _plan(args: DataHubInputs) -> DataHubArgs:
    return data_hub_args(environment_of(args, classes=args["classes"], aws={"protect": args.get("protect", True)}))


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "classes": ["internal"],
}
