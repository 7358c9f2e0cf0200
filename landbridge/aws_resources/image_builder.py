"""EC2 Image Builder: components, recipes, pipelines and their configurations."""

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Inputs, Recover, ResourceType
from landbridge.aws_resources.search import agrees, listed


def _recover(operation: str, key: str, **constants: str) -> Recover:
    return listed("imagebuilder", operation, key, "arn", {"name": "name"}, constants=constants, tags_key="tags")


def _recover_component(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the first build of this version of a component."""
    components = aws.all("imagebuilder", "list_components", "componentVersionList", owner="Self")
    versions = [str(each["arn"]) for each in components if agrees(inputs, each, {"name": "name", "version": "version"})]
    return [arn if arn.count("/") > 2 else f"{arn}/1" for arn in versions]


RESOURCE_TYPES = (
    ResourceType("Image Builder component", "aws:imagebuilder/component:Component", recover=_recover_component),
    ResourceType(
        "Image Builder recipe", "aws:imagebuilder/imageRecipe:ImageRecipe",
        recover=_recover("list_image_recipes", "imageRecipeSummaryList", owner="Self")),
    ResourceType(
        "Image Builder pipeline", "aws:imagebuilder/imagePipeline:ImagePipeline",
        recover=_recover("list_image_pipelines", "imagePipelineList")),
    ResourceType(
        "Image Builder infrastructure configuration",
        "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration",
        recover=_recover("list_infrastructure_configurations", "infrastructureConfigurationSummaryList")),
    ResourceType(
        "Image Builder distribution configuration",
        "aws:imagebuilder/distributionConfiguration:DistributionConfiguration",
        recover=_recover("list_distribution_configurations", "distributionConfigurationSummaryList")),
    ResourceType(
        "Image Builder lifecycle policy", "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy",
        recover=_recover("list_lifecycle_policies", "lifecyclePolicySummaryList")),
)  # fmt: skip
