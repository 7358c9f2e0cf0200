"""EC2 instances that run services."""

import time
from collections.abc import Mapping
from typing import Any

from sandbox.pulumi_provider.aws.base import Bag, CloudFormationType, ProviderError, found, tag_list
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource

#: Seconds that a machine may take to run, to stop or to end.
PATIENCE = 600.0
#: Seconds until EC2 lists a new resource.
UNSEEN = 10.0
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
    """One machine. Its type and user data change while it is stopped, its image and address with another machine."""

    token = "aws:ec2/instance:Instance"
    cloudformation = CloudFormationType("AWS::EC2::Instance", names={"ami": "ImageId"}, more=("privateipaddress",))
    replaces = _REPLACES
    resource_type = "instance"
    arn_type = "instance"

    @classmethod
    def replaced_by(cls, olds: Bag, news: Bag, changed: frozenset[str]) -> frozenset[str]:
        more = {"userData", "userDataBase64"} if news.get("userDataReplaceOnChange") else set()
        before, after = olds.get("rootBlockDevice") or {}, news.get("rootBlockDevice") or {}
        if any(before.get(key) != after.get(key) for key in ("encrypted", "kmsKeyId")):
            more.add("rootBlockDevice")
        return super().replaced_by(olds, news, changed) | (changed & more)

    def create(self, news: Bag) -> tuple[str, Bag]:
        if set(news) - _KNOWN:
            raise ProviderError(f"{self.token}: the sandbox does not know {', '.join(sorted(set(news) - _KNOWN))}")
        given: Bag = {
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
            given["IamInstanceProfile"] = {"Name": news["iamInstanceProfile"]}
        if "metadataOptions" in news:
            given["MetadataOptions"] = {_METADATA[key]: value for key, value in news["metadataOptions"].items()}
        if "rootBlockDevice" in news:
            given["BlockDeviceMappings"] = [self._root(news["ami"], news["rootBlockDevice"])]
        (instance,) = self.ec2.run_instances(
            ImageId=news["ami"],
            InstanceType=news["instanceType"],
            MinCount=1,
            MaxCount=1,
            **given,
            **self._tagged(news),
        )["Instances"]
        id_ = self.exists(instance["InstanceId"])
        item = self.until(id_, "running")
        return id_, {"arn": self.arn_of(id_), **self._outputs(item)}

    def _tagged(self, news: Bag) -> Bag:
        kinds = (("instance", news.get("tags")), ("volume", news.get("volumeTags")))
        specs = [{"ResourceType": kind, "Tags": tag_list(tags)} for kind, tags in kinds if tags]
        return {"TagSpecifications": specs} if specs else {}

    def _root(self, image: str, disk: Bag) -> Bag:
        """The root volume under the image's own name for it."""
        (one,) = self.ec2.describe_images(ImageIds=[image])["Images"]
        ebs = {word: disk[key] for key, word in _GROWS.items() if key in disk}
        named = {"Size": "VolumeSize"}
        return {
            "DeviceName": one["RootDeviceName"],
            "Ebs": {
                **{named.get(word, word): value for word, value in ebs.items()},
                "Encrypted": bool(disk.get("encrypted", False)),
                "DeleteOnTermination": bool(disk.get("deleteOnTermination", True)),
                **({"KmsKeyId": disk["kmsKeyId"]} if "kmsKeyId" in disk else {}),
            },
        }

    def _item(self, id_: str) -> Any | None:
        group = found(self.ec2.describe_instances, "Reservations", InstanceIds=[id_])
        return group["Instances"][0] if group else None

    def describes(self, id_: str) -> Any | None:
        item = self._item(id_)
        return None if item is None or item["State"]["Name"] in ("terminated", "shutting-down") else item

    def until(self, id_: str, *states: str) -> Any:
        """Wait, as the real provider does: one that has just been made may not be found at first."""
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            item = self._item(id_)
            state = item["State"]["Name"] if item else "terminated"
            if state in states and (item is not None or "terminated" in states):
                return item
            ended = state == "terminated" and (item is not None or time.monotonic() - began > UNSEEN)
            if ended and "terminated" not in states:
                why = (item or {}).get("StateReason", {}).get("Message", "it is gone")
                raise ProviderError(f"instance {id_} did not come up: {why}")
            time.sleep(0.1)
        raise ProviderError(f"instance {id_} is not {' or '.join(states)} after {PATIENCE:.0f} seconds")

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
        if set(seen["vpcSecurityGroupIds"]) == set(state.get("vpcSecurityGroupIds") or ()):
            seen["vpcSecurityGroupIds"] = state["vpcSecurityGroupIds"]
        flag = self.ec2.describe_instance_attribute(InstanceId=id_, Attribute="disableApiTermination")
        return {**seen, "disableApiTermination": bool(flag["DisableApiTermination"].get("Value", False))}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        at_rest = changed & {"instanceType", "userData", "userDataBase64", "ebsOptimized"}
        if at_rest:
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
            self._grow_root(id_, state.get("rootBlockDevice") or {}, news["rootBlockDevice"])
        self.retag(id_, state, news)
        done = {"vpcSecurityGroupIds", "disableApiTermination", "metadataOptions", "rootBlockDevice"}
        rest = changed - at_rest - done - {"tags", "volumeTags", "userDataReplaceOnChange", "forceDestroy"}
        return super().update(id_, state, news, rest) if rest else {}

    def _attribute(self, id_: str, **change: Any) -> None:
        self.ec2.modify_instance_attribute(InstanceId=id_, **change)

    def _grow_root(self, id_: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        item = self._item(id_) or {}
        root = next(
            block_device_mapping
            for block_device_mapping in item["BlockDeviceMappings"]
            if block_device_mapping["DeviceName"] == item["RootDeviceName"]
        )
        change = {word: after[key] for key, word in _GROWS.items() if key in after and after[key] != before.get(key)}
        if change:
            self.ec2.modify_volume(VolumeId=root["Ebs"]["VolumeId"], **change)

    def delete(self, id_: str, state: Bag) -> None:
        if self.describes(id_) is None:
            return
        if state.get("forceDestroy") and state.get("disableApiTermination"):
            self._attribute(id_, DisableApiTermination={"Value": False})
        self.ec2.terminate_instances(InstanceIds=[id_])
        self.until(id_, "terminated")
