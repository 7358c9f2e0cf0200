"""EC2 Image Builder components, recipes, infrastructure and distribution configurations, pipelines, lifecycle policies.

Pulumi's names are the API's with few exceptions; recipes and components are versions that cannot be changed.
"""

from typing import Any, ClassVar

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, first_or_none, ignore_missing

_TRUTH = {"true": True, "false": False}


class _Part(AwsResource):
    autoname = "name"
    #: Noun of the operations, and the member of an answer with the ARN.
    noun: ClassVar[str]
    arn_key: ClassVar[str]
    #: Inputs that are not members of the API's request.
    ours: ClassVar[frozenset[str]] = frozenset({"region", "tags", "tagsAll", "skipDestroy"})

    @property
    def builder(self) -> Any:
        return self.cloud.client("imagebuilder")

    def call(self, verb: str, **arguments: Any) -> Any:
        return getattr(self.builder, f"{verb}_{self.noun}")(**arguments)

    def request(self, news: Bag) -> Bag:
        """Return the inputs in the API's form."""
        return {key: value for key, value in news.items() if key not in self.ours and value is not None}

    def create(self, news: Bag) -> tuple[str, Bag]:
        tags = {"tags": news["tags"]} if news.get("tags") else {}
        arn = self.call("create", **self.request(news), **tags)[self.arn_key]
        return arn, {"arn": arn, **self.added(arn)}

    def added(self, arn: str) -> Bag:
        """Return AWS's outputs in addition to the ARN."""
        return {}

    def _seen(self, id_: str) -> Bag | None:
        word = self.arn_key.removesuffix("Arn") if self.noun != "component" else "component"
        return first_or_none(lambda **a: {"it": [self.call("get", **a)[word]]}, "it", **{self.arn_key: id_})

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._seen(id_)
        if seen is None:
            return None
        request = self.request(state)
        return {
            **{key: state[key] for key in request if key in state and seen.get(key) == request[key]},
            **{key: value for key, value in seen.items() if key in request and value != request[key]},
            "arn": id_,
            "tags": seen.get("tags") or None,
            **self.added(id_),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            dropped = [key for key in before if key not in after]
            if dropped:
                self.builder.untag_resource(resourceArn=id_, tagKeys=dropped)
            if after:
                self.builder.tag_resource(resourceArn=id_, tags=after)
        if changed - {"tags"}:
            self.change(id_, news, changed - {"tags"})
        return {"arn": id_, **self.added(id_)}

    def change(self, id_: str, news: Bag, changed: frozenset[str]) -> None:
        """Send all values except the name again: AWS removes values that are left out."""
        self.call("update", **{self.arn_key: id_}, **{k: v for k, v in self.request(news).items() if k != "name"})

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(lambda **a: self.call("delete", **a), **{self.arn_key: id_})


class _Version(_Part):
    """Versioned resource type: a change of anything but the tags creates another version."""

    @classmethod
    def replaced_by(cls, olds: Bag, news: Bag, changed: frozenset[str]) -> frozenset[str]:
        return changed - {"tags", "skipDestroy"}

    def request(self, news: Bag) -> Bag:
        request = super().request(news)
        request["semanticVersion"] = request.pop("version")
        return request

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._seen(id_)
        if seen is None:
            return None
        return {"arn": id_, "version": seen["version"], "tags": seen.get("tags") or None, **self.added(id_)}


class ImageComponentResource(_Version):
    token = "aws:imagebuilder/component:Component"
    cloudformation = CloudFormationType("AWS::ImageBuilder::Component")
    noun, arn_key = "component", "componentBuildVersionArn"

    def added(self, arn: str) -> Bag:
        return {"type": "BUILD", "encrypted": True, "owner": self.cloud.account}


class ImageRecipeResource(_Version):
    token = "aws:imagebuilder/imageRecipe:ImageRecipe"
    cloudformation = CloudFormationType("AWS::ImageBuilder::ImageRecipe")
    noun, arn_key = "image_recipe", "imageRecipeArn"

    def request(self, news: Bag) -> Bag:
        request = super().request(news)
        request["blockDeviceMappings"] = [
            {
                **block_device_mapping,
                "ebs": {key: _TRUTH.get(value, value) for key, value in block_device_mapping.get("ebs", {}).items()},
            }
            for block_device_mapping in request.get("blockDeviceMappings", [])
        ]
        return request

    def added(self, arn: str) -> Bag:
        return {"owner": self.cloud.account, "platform": "Linux"}


class ImageInfrastructureConfigurationResource(_Part):
    token = "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration"
    cloudformation = CloudFormationType("AWS::ImageBuilder::InfrastructureConfiguration")
    replaces = frozenset({"name"})
    noun, arn_key = "infrastructure_configuration", "infrastructureConfigurationArn"


class ImageDistributionConfigurationResource(_Part):
    token = "aws:imagebuilder/distributionConfiguration:DistributionConfiguration"
    cloudformation = CloudFormationType("AWS::ImageBuilder::DistributionConfiguration")
    replaces = frozenset({"name"})
    noun, arn_key = "distribution_configuration", "distributionConfigurationArn"


class ImagePipelineResource(_Part):
    token = "aws:imagebuilder/imagePipeline:ImagePipeline"
    cloudformation = CloudFormationType("AWS::ImageBuilder::ImagePipeline")
    replaces = frozenset({"name"})
    noun, arn_key = "image_pipeline", "imagePipelineArn"

    def added(self, arn: str) -> Bag:
        return {"platform": "Linux"}


class ImageLifecyclePolicyResource(_Part):
    token = "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy"
    cloudformation = CloudFormationType("AWS::ImageBuilder::LifecyclePolicy")
    replaces = frozenset({"name"})
    noun, arn_key = "lifecycle_policy", "lifecyclePolicyArn"

    def change(self, id_: str, news: Bag, changed: frozenset[str]) -> None:
        self.call("update", **{self.arn_key: id_}, **{k: v for k, v in self.request(news).items() if k != "name"})
