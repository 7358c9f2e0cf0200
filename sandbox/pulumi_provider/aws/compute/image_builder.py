"""EC2 Image Builder components, recipes, infrastructure and distribution configurations, pipelines and lifecycle policies.

Pulumi's names are the API's, but for a few; recipes and components are versions that cannot be changed.
"""

from typing import Any, ClassVar

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, found, gone

_TRUTH = {"true": True, "false": False}


class _Part(AwsResource):
    autoname = "name"
    #: The operations' noun, and the member of an answer that is the ARN.
    noun: ClassVar[str]
    arn_key: ClassVar[str]
    #: Inputs that are not the API's.
    ours: ClassVar[frozenset[str]] = frozenset({"region", "tags", "tagsAll", "skipDestroy"})

    @property
    def builder(self) -> Any:
        return self.cloud.client("imagebuilder")

    def call(self, verb: str, **given: Any) -> Any:
        return getattr(self.builder, f"{verb}_{self.noun}")(**given)

    def request(self, news: Bag) -> Bag:
        """The inputs as the API has them."""
        return {key: value for key, value in news.items() if key not in self.ours and value is not None}

    def create(self, news: Bag) -> tuple[str, Bag]:
        tags = {"tags": news["tags"]} if news.get("tags") else {}
        arn = self.call("create", **self.request(news), **tags)[self.arn_key]
        return arn, {"arn": arn, **self.added(arn)}

    def added(self, arn: str) -> Bag:
        """Return AWS's values besides the ARN."""
        return {}

    def _seen(self, id_: str) -> Bag | None:
        word = self.arn_key.removesuffix("Arn") if self.noun != "component" else "component"
        return found(lambda **a: {"it": [self.call("get", **a)[word]]}, "it", **{self.arn_key: id_})

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._seen(id_)
        if seen is None:
            return None
        wanted = self.request(state)
        return {
            **{key: state[key] for key in wanted if key in state and seen.get(key) == wanted[key]},
            **{key: value for key, value in seen.items() if key in wanted and value != wanted[key]},
            "arn": id_,
            "tags": seen.get("tags") or None,
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            lost = [key for key in before if key not in after]
            if lost:
                self.builder.untag_resource(resourceArn=id_, tagKeys=lost)
            if after:
                self.builder.tag_resource(resourceArn=id_, tags=after)
        if changed - {"tags"}:
            self.change(id_, news, changed - {"tags"})
        return {"arn": id_, **self.added(id_)}

    def change(self, id_: str, news: Bag, changed: frozenset[str]) -> None:
        """Send all values except the name again: AWS removes values that are left out."""
        self.call("update", **{self.arn_key: id_}, **{k: v for k, v in self.request(news).items() if k != "name"})

    def delete(self, id_: str, state: Bag) -> None:
        gone(lambda **given: self.call("delete", **given), **{self.arn_key: id_})


class _Version(_Part):
    """A version: anything but its tags is another one."""

    @classmethod
    def replaced_by(cls, olds: Bag, news: Bag, changed: frozenset[str]) -> frozenset[str]:
        return changed - {"tags", "skipDestroy"}

    def request(self, news: Bag) -> Bag:
        asked = super().request(news)
        asked["semanticVersion"] = asked.pop("version")
        return asked

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._seen(id_)
        return None if seen is None else {"arn": id_, "version": seen["version"], "tags": seen.get("tags") or None}


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
        asked = super().request(news)
        asked["blockDeviceMappings"] = [
            {
                **block_device_mapping,
                "ebs": {key: _TRUTH.get(value, value) for key, value in block_device_mapping.get("ebs", {}).items()},
            }
            for block_device_mapping in asked.get("blockDeviceMappings", [])
        ]
        return asked

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
