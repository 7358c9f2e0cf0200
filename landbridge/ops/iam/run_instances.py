"""Resources and condition keys that EC2 presents to IAM for RunInstances and TerminateInstances. Pure.

Source: Service Authorization Reference, "Actions defined by Amazon EC2" (resource types and condition keys of
RunInstances); EC2 User Guide, "Example policies to control access to the Amazon EC2 API" (launch templates:
ec2:IsLaunchTemplateResource is false for a resource that the request specifies itself; spot: an untagged spot request is
not presented), 2026-11-25. EBS User Guide, "Requirements for Amazon EBS encryption" (actions on the key of a disk);
KMS Developer Guide, "AWS KMS condition keys", kms:ViaService and kms:GrantIsForAWSResource, 2026-11-29.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landbridge.ops.iam.evaluate import Request
from landbridge.ops.iam.whole_request import PresentedResource

_DISK_KEY_ACTIONS = (
    "kms:CreateGrant",
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
Parameters = Mapping[str, Any]
Keys = dict[str, str | list[str]]


@dataclass(frozen=True, slots=True)
class LaunchTemplateVersion:
    """Version of a launch template that a request uses; `data` has the parameter names of RunInstances."""

    id: str
    data: Parameters


@dataclass(frozen=True, slots=True)
class Ec2Account:
    """Caller's account and region, and the known resources: `tags` by ARN; `owners` by id, for resources of other
    accounts and for images (`amazon` for Amazon's own).
    """

    account: str
    region: str
    partition: str = "aws"
    tags: Callable[[str], Mapping[str, str]] = lambda arn: {}
    owners: Mapping[str, str] | None = None

    def arn(self, kind: str, name: str) -> str:
        """Return a resource's ARN. Images and snapshots have no account."""
        account = "" if kind in ("image", "snapshot") else (self.owners or {}).get(name, self.account)
        return f"arn:{self.partition}:ec2:{self.region}:{account}:{kind}/{name}"

    def existing(self, kind: str, name: str, keys: Mapping[str, str | list[str]]) -> PresentedResource:
        """Return a resource that exists, with its tags."""
        arn = self.arn(kind, name)
        tags: Keys = {f"aws:ResourceTag/{key}": value for key, value in self.tags(arn).items()}
        return PresentedResource(arn, {**self._region(), **tags, **keys})

    def created(self, kind: str, tags: Mapping[str, str], keys: Mapping[str, str | list[str]]) -> PresentedResource:
        """Return a resource that the request creates, with the tags that it gets."""
        tag_keys: Keys = {f"aws:RequestTag/{key}": value for key, value in tags.items()}
        if tags:
            tag_keys["aws:TagKeys"] = sorted(tags)
        return PresentedResource(self.arn(kind, "*"), {**self._region(), **tag_keys, **keys})

    def _region(self) -> Keys:
        return {"aws:RequestedRegion": self.region, "ec2:Region": self.region}


def terminate_resources(instances: Sequence[str], account: Ec2Account) -> tuple[PresentedResource, ...]:
    """Return the resources of TerminateInstances: each instance, with its tags."""
    return tuple(account.existing("instance", instance, {}) for instance in instances)


def disk_key_requests(principal: str, key: str, account: Ec2Account) -> Iterator[Request]:
    """Yield the requests to KMS that EBS makes for the caller of RunInstances, for a disk with this key (its ARN).

    RunInstances itself does not fail without these permissions: the instance ends with Client.InternalError.
    """
    region, owner = key.split(":")[3:5]
    suffix = "amazonaws.com.cn" if account.partition == "aws-cn" else "amazonaws.com"
    context = {"kms:ViaService": f"ec2.{region}.{suffix}", "kms:CallerAccount": account.account}
    for action in _DISK_KEY_ACTIONS:
        grant = {"kms:GrantIsForAWSResource": "true"} if action == "kms:CreateGrant" else {}
        yield Request(principal, action, key, {**context, **grant}, resource_account=owner)


def launch_resources(
    request: Parameters, template: LaunchTemplateVersion | None, account: Ec2Account
) -> tuple[PresentedResource, ...]:
    """Return the resources of RunInstances with these parameters, as boto3 names them. `template` is the version that
    the request's LaunchTemplate stands for, with the id of its image (not the name of a parameter).
    """
    return tuple(_Launch(request, template, account).resources())


@dataclass(frozen=True, slots=True)
class _Launch:
    request: Parameters
    template: LaunchTemplateVersion | None
    account: Ec2Account

    def resources(self) -> Iterator[PresentedResource]:
        account, interfaces = self.account, list(self._value("NetworkInterfaces") or [])
        yield account.created("instance", self._tags("instance"), self._instance_keys())
        yield account.created("volume", self._tags("volume"), self._keys("BlockDeviceMappings"))
        yield from self._interfaces(interfaces)
        yield self._image()
        for kind, key, values in (
            ("snapshot", "BlockDeviceMappings", self._snapshots()),
            ("subnet", "NetworkInterfaces", self._subnets(interfaces)),
            ("security-group", "NetworkInterfaces", self._security_groups(interfaces)),
            ("placement-group", "Placement", [(self._value("Placement") or {}).get("GroupName")]),
            ("capacity-reservation", "CapacityReservationSpecification", [self._target("CapacityReservationId")]),
            ("key-pair", "KeyName", [self._value("KeyName")]),
        ):
            for value in dict.fromkeys(name for name in values if name):
                yield account.existing(kind, value, self._keys(key))
        if group := self._target("CapacityReservationResourceGroupArn"):
            yield PresentedResource(group)
        if self.template is not None:
            yield account.existing("launch-template", self.template.id, self._template_key())

    def _value(self, key: str) -> Any:
        """Return a parameter of the request, else of its launch template."""
        if key in self.request:
            return self.request[key]
        return None if self.template is None else self.template.data.get(key)

    def _template_key(self) -> Keys:
        return (
            {}
            if self.template is None
            else {"ec2:LaunchTemplate": self.account.arn("launch-template", self.template.id)}
        )

    def _keys(self, parameter: str) -> Keys:
        """Return the keys of every resource: the template, and whether the parameter with the resource is its own."""
        if self.template is None:
            return {}
        return {**self._template_key(), "ec2:IsLaunchTemplateResource": str(parameter not in self.request).lower()}

    def _instance_keys(self) -> Keys:
        profile = self._value("IamInstanceProfile") or {}
        optional = {
            "ec2:InstanceType": self._value("InstanceType"),
            "ec2:InstanceMarketType": (self._value("InstanceMarketOptions") or {}).get("MarketType", "on-demand"),
            "ec2:InstanceProfile": profile.get("Arn"),
            "ec2:MetadataHttpTokens": (self._value("MetadataOptions") or {}).get("HttpTokens"),
        }
        group = (self._value("Placement") or {}).get("GroupName")
        if group:
            optional["ec2:PlacementGroup"] = self.account.arn("placement-group", group)
        return {**self._keys("InstanceType"), **{key: value for key, value in optional.items() if value}}

    def _tags(self, kind: str) -> dict[str, str]:
        """Return the tags of a new resource: the request's tags, and the template's tags that the request does not
        replace.
        """
        tags: dict[str, str] = {}
        specifications = () if self.template is None else self.template.data.get("TagSpecifications") or ()
        for specification in (*specifications, *(self.request.get("TagSpecifications") or ())):
            if specification["ResourceType"] == kind:
                tags |= {tag["Key"]: tag["Value"] for tag in specification["Tags"]}
        return tags

    def _interfaces(self, interfaces: Sequence[Parameters]) -> Iterator[PresentedResource]:
        existing = [entry["NetworkInterfaceId"] for entry in interfaces if entry.get("NetworkInterfaceId")]
        for name in existing:
            yield self.account.existing("network-interface", name, self._keys("NetworkInterfaces"))
        if len(existing) < max(1, len(interfaces)):
            keys = self._keys("NetworkInterfaces")
            for subnet in self._subnets(interfaces)[:1]:
                keys["ec2:Subnet"] = self.account.arn("subnet", subnet)
            yield self.account.created("network-interface", self._tags("network-interface"), keys)

    def _image(self) -> PresentedResource:
        image = str(self._value("ImageId"))
        owner = (self.account.owners or {}).get(image, self.account.account)
        return self.account.existing(
            "image", image, {**self._keys("ImageId"), "ec2:ImageID": image, "ec2:Owner": owner}
        )

    def _snapshots(self) -> list[str]:
        mappings = self._value("BlockDeviceMappings") or []
        return [name for mapping in mappings if (name := (mapping.get("Ebs") or {}).get("SnapshotId"))]

    def _subnets(self, interfaces: Sequence[Parameters]) -> list[str]:
        names = [self._value("SubnetId"), *(entry.get("SubnetId") for entry in interfaces)]
        return [name for name in names if name]

    def _security_groups(self, interfaces: Sequence[Parameters]) -> list[str]:
        return [
            *(self._value("SecurityGroupIds") or ()),
            *(group for entry in interfaces for group in entry.get("Groups") or ()),
        ]

    def _target(self, key: str) -> str | None:
        target = (self._value("CapacityReservationSpecification") or {}).get("CapacityReservationTarget") or {}
        value: str | None = target.get(key)
        return value
