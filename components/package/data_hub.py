"""`landbridge:index:DataHub`."""

from typing import NotRequired

import pulumi

import components
from components.package.inputs import OwnedInputs, account_of, planned, site_of
from landbridge.plan.aws.data_hub import DataHubArgs, data_hub_args


class DataHubInputs(OwnedInputs):
    """Buckets for data classes."""

    classes: list[str]
    """Each gets a bucket and a key."""
    protect: NotRequired[bool]
    """Whether Pulumi refuses to remove them; on unless it is said otherwise."""


class DataHub(pulumi.ComponentResource):
    """A bucket and a key for each data class: TLS only, versioned, encrypted with its own key, nothing public."""

    buckets: pulumi.Output[dict[str, str]]
    """Bucket names by class."""
    key_arns: pulumi.Output[dict[str, str]]
    """The keys' ARNs by class."""

    def __init__(self, name: str, args: DataHubInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> DataHubArgs:
            site = site_of(
                args,
                classes=args["classes"],
                aws={"protect": args.get("protect", True)},
            )
            return data_hub_args(site)

        wanted = planned(f"DataHub {name}", plan)
        super().__init__("landbridge:index:DataHub", name, dict(args), opts)
        made = components.DataHub(name, wanted, account=account_of(self), opts=pulumi.ResourceOptions(parent=self))
        self.buckets = pulumi.Output.from_input({key: bucket.bucket for key, bucket in made.buckets.items()})
        self.key_arns = pulumi.Output.from_input({key: value.arn for key, value in made.keys.items()})
        self.register_outputs({"buckets": self.buckets, "keyArns": self.key_arns})
