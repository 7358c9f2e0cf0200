"""SageMaker model package groups."""

from typing import Any

from botocore.exceptions import ClientError

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, error_code, tag_list, tag_map


class ModelPackageGroupResource(AwsResource):
    token = "aws:sagemaker/modelPackageGroup:ModelPackageGroup"
    cloudformation = CloudFormationType("AWS::SageMaker::ModelPackageGroup")
    replaces = frozenset({"modelPackageGroupName", "modelPackageGroupDescription"})

    @property
    def models(self) -> Any:
        return self.cloud.client("sagemaker")

    def create(self, news: Bag) -> tuple[str, Bag]:
        name = news["modelPackageGroupName"]
        parameters = {"ModelPackageGroupDescription": news.get("modelPackageGroupDescription")}
        response = self.models.create_model_package_group(
            ModelPackageGroupName=name,
            Tags=tag_list(news.get("tags")),
            **{key: value for key, value in parameters.items() if value is not None},
        )
        return name, {"arn": response["ModelPackageGroupArn"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        try:
            item = self.models.describe_model_package_group(ModelPackageGroupName=id_)
        except ClientError as error:
            # SageMaker has no separate error for a missing resource.
            if error_code(error) == "ValidationException" and "does not exist" in str(error):
                return None
            raise
        return {
            "arn": item["ModelPackageGroupArn"],
            "modelPackageGroupName": item["ModelPackageGroupName"],
            "modelPackageGroupDescription": item.get("ModelPackageGroupDescription"),
            "tags": tag_map(self.models.list_tags(ResourceArn=item["ModelPackageGroupArn"])["Tags"]),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - {"tags"}:
            super().update(id_, state, news, changed - {"tags"})
        before, after = state.get("tags") or {}, news.get("tags") or {}
        dropped = [key for key in before if key not in after]
        if dropped:
            self.models.delete_tags(ResourceArn=state["arn"], TagKeys=dropped)
        self.models.add_tags(ResourceArn=state["arn"], Tags=tag_list(after))
        return {"arn": state["arn"]}

    def delete(self, id_: str, state: Bag) -> None:
        if self.read(id_, state) is not None:
            self.models.delete_model_package_group(ModelPackageGroupName=id_)
