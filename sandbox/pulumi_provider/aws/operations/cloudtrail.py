"""CloudTrail trails."""

from typing import Any

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, found, gone, tag_list, tag_map


class TrailResource(AwsResource):
    token = "aws:cloudtrail/trail:Trail"
    cloudformation = CloudFormationType(
        "AWS::CloudTrail::Trail", names={"name": "TrailName", "enableLogging": "IsLogging"}
    )
    replaces = frozenset({"name"})
    autoname = "name"

    @property
    def trails(self) -> Any:
        return self.cloud.client("cloudtrail")

    def create(self, news: Bag) -> tuple[str, Bag]:
        response = self.trails.create_trail(
            Name=news["name"],
            S3BucketName=news["s3BucketName"],
            IsMultiRegionTrail=news.get("isMultiRegionTrail", False),
            IncludeGlobalServiceEvents=news.get("includeGlobalServiceEvents", True),
            EnableLogFileValidation=news.get("enableLogFileValidation", False),
            TagsList=tag_list(news.get("tags")),
        )
        if news.get("enableLogging", True):
            self.trails.start_logging(Name=news["name"])
        return response["TrailARN"], {"arn": response["TrailARN"], "homeRegion": self.cloud.region}

    def read(self, id_: str, state: Bag) -> Bag | None:
        trail = found(lambda **a: {"it": [self.trails.get_trail(**a)["Trail"]]}, "it", Name=id_)
        if trail is None:
            return None
        (listed,) = self.trails.list_tags(ResourceIdList=[id_])["ResourceTagList"]
        return {
            "s3BucketName": trail["S3BucketName"],
            "isMultiRegionTrail": trail["IsMultiRegionTrail"],
            "enableLogFileValidation": trail["LogFileValidationEnabled"],
            "enableLogging": self.trails.get_trail_status(Name=id_)["IsLogging"],
            "tags": tag_map(listed["TagsList"]),
        }

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.trails.delete_trail, Name=id_)
