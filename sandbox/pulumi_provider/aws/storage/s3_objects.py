"""S3 objects from local files."""

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, ProviderError, first_or_none, ignore_missing


class BucketObjectResource(AwsResource):
    token = "aws:s3/bucketObject:BucketObject"
    cloudformation = None
    replaces = frozenset({"bucket", "key"})

    @property
    def s3(self) -> Any:
        return self.cloud.client("s3")

    def _put(self, news: Bag) -> Bag:
        source = news.get("source") or {}
        if "path" not in source and "text" not in source:
            raise ProviderError("the sandbox takes an object's content as a file or a text asset")
        content = Path(source["path"]).read_bytes() if "path" in source else str(source["text"]).encode()
        tags = {"Tagging": urlencode(news["tags"])} if news.get("tags") else {}
        kind = {"ContentType": news["contentType"]} if "contentType" in news else {}
        self.s3.put_object(Bucket=news["bucket"], Key=news["key"], Body=content, **kind, **tags)
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        return {"arn": _arn(news["bucket"], news["key"]), "etag": digest}

    def create(self, news: Bag) -> tuple[str, Bag]:
        return news["key"], self._put(news)

    def read(self, id_: str, state: Bag) -> Bag | None:
        key = {"Bucket": state["bucket"], "Key": id_}
        seen = first_or_none(lambda **a: {"it": [self.s3.head_object(**a)]}, "it", **key)
        if seen is None:
            return None
        tags = self.s3.get_object_tagging(**key)["TagSet"]
        return {
            "arn": _arn(state["bucket"], id_),
            "key": id_,
            "etag": seen["ETag"].strip('"'),
            "tags": {tag["Key"]: tag["Value"] for tag in tags} or None,
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        return self._put(news)

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.s3.delete_object, Bucket=state["bucket"], Key=id_)


def _arn(bucket: str, key: str) -> str:
    return f"arn:aws:s3:::{bucket}/{key}"
