"""EC2 instances that run services."""

import time
from collections.abc import Mapping
from typing import Any

from sandbox.pulumi_provider.aws.base import Bag, CloudFormationType, ProviderError, first_or_none, tag_list
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource

#: Maximum time until an instance runs, is stopped or is terminated.
STATE_TIMEOUT_SECONDS = 600.0
#: Maximum time until EC2 lists a new resource.
VISIBILITY_TIMEOUT_SECONDS = 10.0
#: Settings of a root volume that AWS can change while the instance runs, by EC2's names.
_GROWS = {"volumeSize": "Size", "volumeType": "VolumeType", "iops": "Iops", "throughput": "Throughput"}
_METADATA = {
    "httpTokens": "HttpTokens",
    "httpEndpoint": "HttpEndpoint",
    "httpPutResponseHopLimit": "HttpPutResponseHopLimit",
    "instanceMetadataTags": "InstanceMetadataTags",
}

_REPLACES = frozenset({"ami", "subnetId", "privateIp", "availabilityZone", "keyName", "associatePublicIpAddress"})
_KNOWN = _REPLACES | {
    *("instanceType", "iamInstanceProfile", "vpcSecurityGroupIds", "userDataBase64", "userDataReplaceOnChange"),
    *("metadataOptions", "rootBlockDevice", "disableApiTermination", "ebsOptimized", "tags", "volumeTags", "region"),
    *("instanceInitiatedShutdownBehavior", "forceDestroy"),
}


class InstanceResource(Ec2Resource):
    """EC2 instance.

    Type and user data are changed while it is stopped; another image or address needs a replacement.
    """

    token = "aws:ec2/instance:Instance"
    cloudformation = CloudFormationType("AWS::EC2::Instance", names={"ami": "ImageId"}, more=("privateipaddress",))
    replaces = _REPLACES
    resource_type = "instance"
    arn_type = "instance"

    @classmethod
    def replaced_by(cls, olds: Bag, news: Bag, changed: frozenset[str]) -> frozenset[str]:
        replacing = {"userData", "userDataBase64"} if news.get("userDataReplaceOnChange") else set()
        before, after = olds.get("rootBlockDevice") or {}, news.get("rootBlockDevice") or {}
        if any(before.get(key) != after.get(key) for key in ("encrypted", "kmsKeyId")):
            replacing.add("rootBlockDevice")
        return super().replaced_by(olds, news, changed) | (changed & replacing)

    def create(self, news: Bag) -> tuple[str, Bag]:
        if set(news) - _KNOWN:
            raise ProviderError(f"{self.token}: the sandbox does not know {', '.join(sorted(set(news) - _KNOWN))}")
        parameters: Bag = {
            parameter: news[key]
            for key, parameter in (
                ("subnetId", "SubnetId"),
                ("privateIp", "PrivateIpAddress"),
                ("vpcSecurityGroupIds", "SecurityGroupIds"),
                ("disableApiTermination", "DisableApiTermination"),
                ("ebsOptimized", "EbsOptimized"),
                ("instanceInitiatedShutdownBehavior", "InstanceInitiatedShutdownBehavior"),
                ("userDataBase64", "UserData"),
            )
            if key in news
        }
        if "iamInstanceProfile" in news:
            parameters["IamInstanceProfile"] = {"Name": news["iamInstanceProfile"]}
        if "metadataOptions" in news:
            parameters["MetadataOptions"] = {_METADATA[key]: value for key, value in news["metadataOptions"].items()}
        if "rootBlockDevice" in news:
            parameters["BlockDeviceMappings"] = [self._root(news["ami"], news["rootBlockDevice"])]
        (instance,) = self.ec2.run_instances(
            ImageId=news["ami"],
            InstanceType=news["instanceType"],
            MinCount=1,
            MaxCount=1,
            **parameters,
            **self._tagged(news),
        )["Instances"]
        id_ = self.exists(instance["InstanceId"])
        item = self.until(id_, "running")
        self._tag_root(item, {}, news.get("rootBlockDevice") or {})
        return id_, {"arn": self.arn_of(id_), **self._outputs(item)}

    def _tagged(self, news: Bag) -> Bag:
        kinds = (("instance", news.get("tags")), ("volume", news.get("volumeTags")))
        specs = [{"ResourceType": kind, "Tags": tag_list(tags)} for kind, tags in kinds if tags]
        return {"TagSpecifications": specs} if specs else {}

    def _root(self, image: str, disk: Bag) -> Bag:
        """Return the block device mapping of the root volume, with the image's device name."""
        ebs = {word: disk[key] for key, word in _GROWS.items() if key in disk}
        renamed = {"Size": "VolumeSize"}
        return {
            "DeviceName": self._root_device(image),
            "Ebs": {
                **{renamed.get(word, word): value for word, value in ebs.items()},
                "Encrypted": bool(disk.get("encrypted", False)),
                "DeleteOnTermination": bool(disk.get("deleteOnTermination", True)),
                **({"KmsKeyId": disk["kmsKeyId"]} if "kmsKeyId" in disk else {}),
            },
        }

    def _tag_root(self, item: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Set the tags of the root volume in a call of its own, as the real provider does."""
        old, new = before.get("tags") or {}, after.get("tags") or {}
        volumes = self._volume_ids(item, only_root=True)
        if old.keys() - new.keys():
            self.ec2.delete_tags(Resources=volumes, Tags=[{"Key": key} for key in old.keys() - new.keys()])
        if new and new != old:
            self.ec2.create_tags(Resources=volumes, Tags=tag_list(new))

    def _volume_ids(self, item: Any, *, only_root: bool) -> list[str]:
        root = self._root_device(item["ImageId"])
        mappings = item["BlockDeviceMappings"]
        return [row["Ebs"]["VolumeId"] for row in mappings if not only_root or row["DeviceName"] == root]

    def _root_device(self, image: str) -> str:
        (image_description,) = self.ec2.describe_images(ImageIds=[image])["Images"]
        return str(image_description["RootDeviceName"])

    def _tags_of_volumes(self, item: Any, *, only_root: bool) -> dict[str, str]:
        """Return the tags of an instance's volumes. The real provider reads `volumeTags` from all volumes that are attached
        to the instance, whichever resource attached them, as one map.

        Source: terraform-provider-aws, internal/service/ec2/ec2_instance.go, readVolumeTags; read 2026-11-25.
        """
        tags_by_volume = {
            volume["VolumeId"]: {tag["Key"]: tag["Value"] for tag in volume.get("Tags", [])}
            for volume in self.ec2.describe_volumes(VolumeIds=self._volume_ids(item, only_root=only_root))["Volumes"]
        }
        # A later volume's value replaces an earlier one's; EC2 promises no order, and here the root volume is the first.
        return {
            key: value
            for id_ in self._volume_ids(item, only_root=only_root)
            for key, value in tags_by_volume[id_].items()
        }

    def _item(self, id_: str) -> Any | None:
        group = first_or_none(self.ec2.describe_instances, "Reservations", InstanceIds=[id_])
        return group["Instances"][0] if group else None

    def describes(self, id_: str) -> Any | None:
        item = self._item(id_)
        return None if item is None or item["State"]["Name"] in ("terminated", "shutting-down") else item

    def until(self, id_: str, *states: str) -> Any:
        """Wait for one of `states`, as the real provider does; a new instance may not be listed at first."""
        start = time.monotonic()
        while time.monotonic() - start < STATE_TIMEOUT_SECONDS:
            item = self._item(id_)
            state = item["State"]["Name"] if item else "terminated"
            if state in states and (item is not None or "terminated" in states):
                return item
            ended = state == "terminated" and (
                item is not None or time.monotonic() - start > VISIBILITY_TIMEOUT_SECONDS
            )
            if ended and "terminated" not in states:
                reason = (item or {}).get("StateReason", {}).get("Message", "it does not exist")
                raise ProviderError(f"instance {id_} did not come up: {reason}")
            time.sleep(0.1)
        raise ProviderError(f"instance {id_} is not {' or '.join(states)} after {STATE_TIMEOUT_SECONDS:.0f} seconds")

    def _outputs(self, item: Any) -> Bag:
        return {
            "privateIp": item.get("PrivateIpAddress"),
            "privateDns": item.get("PrivateDnsName"),
            "availabilityZone": item["Placement"]["AvailabilityZone"],
            "primaryNetworkInterfaceId": item["NetworkInterfaces"][0]["NetworkInterfaceId"],
            "instanceState": item["State"]["Name"],
        }

    def observed(self, item: Any) -> Bag:
        profile = item.get("IamInstanceProfile", {}).get("Arn", "")
        options = {key: item.get("MetadataOptions", {}).get(word) for key, word in _METADATA.items()}
        seen: Bag = {
            **self._outputs(item),
            "ami": item["ImageId"],
            "instanceType": item["InstanceType"],
            "subnetId": item["SubnetId"],
            "iamInstanceProfile": profile.rpartition("/")[2],
            "vpcSecurityGroupIds": sorted(group["GroupId"] for group in item["SecurityGroups"]),
        }
        return {**seen, "metadataOptions": {key: value for key, value in options.items() if value is not None}}

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = super().read(id_, state)
        if seen is None:
            return None
        metadata_options = state.get("metadataOptions") or {}
        seen["metadataOptions"] = {
            key: seen["metadataOptions"].get(key, value) for key, value in metadata_options.items()
        }
        if "volumeTags" in state:
            seen["volumeTags"] = self._tags_of_volumes(self._item(id_), only_root=False)
        root = state.get("rootBlockDevice") or {}
        if "tags" in root:
            seen["rootBlockDevice"] = {**root, "tags": self._tags_of_volumes(self._item(id_), only_root=True)}
        if set(seen["vpcSecurityGroupIds"]) == set(state.get("vpcSecurityGroupIds") or ()):
            seen["vpcSecurityGroupIds"] = state["vpcSecurityGroupIds"]
        flag = self.ec2.describe_instance_attribute(InstanceId=id_, Attribute="disableApiTermination")
        return {**seen, "disableApiTermination": bool(flag["DisableApiTermination"].get("Value", False))}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        needs_stop = changed & {"instanceType", "userData", "userDataBase64", "ebsOptimized"}
        if needs_stop:
            self.ec2.stop_instances(InstanceIds=[id_])
            self.until(id_, "stopped")
            if "instanceType" in changed:
                self._attribute(id_, InstanceType={"Value": news["instanceType"]})
            if "userDataBase64" in changed:
                self._attribute(id_, UserData={"Value": news.get("userDataBase64", "")})
            self.ec2.start_instances(InstanceIds=[id_])
            self.until(id_, "running")
        if "vpcSecurityGroupIds" in changed:
            self._attribute(id_, Groups=news["vpcSecurityGroupIds"])
        if "disableApiTermination" in changed:
            self._attribute(id_, DisableApiTermination={"Value": bool(news.get("disableApiTermination"))})
        if "metadataOptions" in changed:
            options = {_METADATA[key]: value for key, value in news["metadataOptions"].items()}
            self.ec2.modify_instance_metadata_options(InstanceId=id_, **options)
        if "rootBlockDevice" in changed:
            self._tag_root(self._item(id_), state.get("rootBlockDevice") or {}, news["rootBlockDevice"])
            self._grow_root(id_, state.get("rootBlockDevice") or {}, news["rootBlockDevice"])
        self.retag(id_, state, news)
        done = {"vpcSecurityGroupIds", "disableApiTermination", "metadataOptions", "rootBlockDevice"}
        other_changes = changed - needs_stop - done - {"tags", "volumeTags", "userDataReplaceOnChange", "forceDestroy"}
        return super().update(id_, state, news, other_changes) if other_changes else {}

    def _attribute(self, id_: str, **change: Any) -> None:
        self.ec2.modify_instance_attribute(InstanceId=id_, **change)

    def _grow_root(self, id_: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        (root,) = self._volume_ids(self._item(id_), only_root=True)
        change = {word: after[key] for key, word in _GROWS.items() if key in after and after[key] != before.get(key)}
        if change:
            self.ec2.modify_volume(VolumeId=root, **change)

    def delete(self, id_: str, state: Bag) -> None:
        if self.describes(id_) is None:
            return
        if state.get("forceDestroy") and state.get("disableApiTermination"):
            self._attribute(id_, DisableApiTermination={"Value": False})
        self.ec2.terminate_instances(InstanceIds=[id_])
        self.until(id_, "terminated")
