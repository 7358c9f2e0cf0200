"""CloudTrail trails."""

from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)


class TrailResource(AwsResource):
    token = "aws:cloudtrail/trail:Trail"
    cloudformation = CloudFormationType(
        "AWS::CloudTrail::Trail",
        names={
            "name": "TrailName",
            "enableLogging": "IsLogging",
            "kmsKeyId": "KMSKeyId",
        },
    )
    replaces = frozenset({"name"})
    autoname = "name"

    @property
    def trails(self) -> Any:
        return self.cloud.client("cloudtrail")

    def create(self, news: Bag) -> tuple[str, Bag]:
        response = self.trails.create_trail(**_parameters(news), TagsList=tag_list(news.get("tags")))
        self.exists(response["TrailARN"])
        self._select(news)
        if news.get("enableLogging", True):
            self.trails.start_logging(Name=news["name"])
        return response["TrailARN"], {"arn": response["TrailARN"], "homeRegion": self.cloud.region}

    def _select(self, news: Bag) -> None:
        """Set the event selectors; a trail without any records management events."""
        selectors = news.get("eventSelectors") or [{}]
        self.trails.put_event_selectors(TrailName=news["name"], EventSelectors=[_selector(each) for each in selectors])

    def read(self, id_: str, state: Bag) -> Bag | None:
        trail = first_or_none(lambda **a: {"it": [self.trails.get_trail(**a)["Trail"]]}, "it", Name=id_)
        if trail is None:
            return None
        (tag_lists,) = self.trails.list_tags(ResourceIdList=[id_])["ResourceTagList"]
        selectors = self.trails.get_event_selectors(TrailName=id_)["EventSelectors"]
        return {
            "arn": id_,
            "kmsKeyId": trail.get("KmsKeyId"),
            "eventSelectors": [_read_selector(each) for each in selectors if each["DataResources"]] or None,
            "s3BucketName": trail["S3BucketName"],
            "isMultiRegionTrail": trail["IsMultiRegionTrail"],
            "enableLogFileValidation": trail["LogFileValidationEnabled"],
            "enableLogging": self.trails.get_trail_status(Name=id_)["IsLogging"],
            "tags": tag_map(tag_lists["TagsList"]),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - {"tags", "eventSelectors", "enableLogging"}:
            self.trails.update_trail(**_parameters(news))
        if "eventSelectors" in changed:
            self._select(news)
        if "enableLogging" in changed:
            (self.trails.start_logging if news.get("enableLogging", True) else self.trails.stop_logging)(Name=id_)
        if "tags" in changed:
            self.trails.remove_tags(ResourceId=id_, TagsList=tag_list(state.get("tags")))
            self.trails.add_tags(ResourceId=id_, TagsList=tag_list(news.get("tags")))
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.trails.delete_trail, Name=id_)


def _parameters(news: Bag) -> Bag:
    key = {"KmsKeyId": news["kmsKeyId"]} if news.get("kmsKeyId") else {}
    return {
        "Name": news["name"],
        "S3BucketName": news["s3BucketName"],
        "IsMultiRegionTrail": news.get("isMultiRegionTrail", False),
        "IncludeGlobalServiceEvents": news.get("includeGlobalServiceEvents", True),
        "EnableLogFileValidation": news.get("enableLogFileValidation", False),
        **key,
    }


def _selector(selector: Bag) -> Bag:
    return {
        "ReadWriteType": selector.get("readWriteType", "All"),
        "IncludeManagementEvents": selector.get("includeManagementEvents", True),
        "DataResources": [
            {"Type": resource["type"], "Values": resource["values"]} for resource in selector.get("dataResources") or []
        ],
    }


def _read_selector(selector: Bag) -> Bag:
    return {
        "readWriteType": selector["ReadWriteType"],
        "includeManagementEvents": selector["IncludeManagementEvents"],
        "dataResources": [
            {"type": resource["Type"], "values": resource["Values"]} for resource in selector["DataResources"]
        ],
    }
