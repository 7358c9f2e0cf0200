"""Lambda functions and permissions."""

from typing import Any

from landbridge.guard.package import archive
from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    first_or_none,
    ignore_missing,
)


class LambdaFunctionResource(AwsResource):
    token = "aws:lambda/function:Function"
    cloudformation = CloudFormationType(
        "AWS::Lambda::Function", names={"name": "FunctionName"}, more=("environment_variable_keys",)
    )
    replaces = frozenset({"name", "packageType"})
    autoname = "name"

    @property
    def functions(self) -> Any:
        return self.cloud.client("lambda")

    def _settings(self, news: Bag) -> Bag:
        return {
            "Role": news["role"],
            "Handler": news["handler"],
            "Runtime": news["runtime"],
            "Description": news.get("description", ""),
            "Timeout": news.get("timeout", 3),
            "MemorySize": news.get("memorySize", 128),
            "Environment": {"Variables": (news.get("environment") or {}).get("variables", {})},
        }

    def _code(self, news: Bag) -> bytes:
        assets = (news.get("code") or {}).get("assets")
        if not assets or any("text" not in asset for asset in assets.values()):
            raise ProviderError("the sandbox takes a function's code as an archive of texts")
        return archive({name: asset["text"] for name, asset in assets.items()})

    def create(self, news: Bag) -> tuple[str, Bag]:
        response = self.functions.create_function(
            FunctionName=news["name"],
            Code={"ZipFile": self._code(news)},
            Architectures=news.get("architectures", ["x86_64"]),
            Tags=news.get("tags") or {},
            **self._settings(news),
        )
        return news["name"], {"arn": response["FunctionArn"], "codeSha256": response["CodeSha256"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        function = first_or_none(lambda **a: {"it": [self.functions.get_function(**a)]}, "it", FunctionName=id_)
        if function is None:
            return None
        settings = function["Configuration"]
        return {
            "arn": settings["FunctionArn"],
            "role": settings["Role"],
            "handler": settings["Handler"],
            "runtime": settings["Runtime"],
            "timeout": settings["Timeout"],
            "memorySize": settings["MemorySize"],
            "environment": {"variables": settings.get("Environment", {}).get("Variables", {})},
            "codeSha256": settings["CodeSha256"],
            "tags": function.get("Tags") or None,
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        arn = state["arn"]
        outputs: Bag = {"arn": arn, "codeSha256": state.get("codeSha256")}
        if "code" in changed:
            response = self.functions.update_function_code(FunctionName=id_, ZipFile=self._code(news))
            outputs["codeSha256"] = response["CodeSha256"]
        if changed - {"code", "tags"}:
            self.functions.update_function_configuration(FunctionName=id_, **self._settings(news))
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            self.functions.untag_resource(Resource=arn, TagKeys=[key for key in before if key not in after])
            self.functions.tag_resource(Resource=arn, Tags=after)
        return outputs

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.functions.delete_function, FunctionName=id_)


class LambdaPermissionResource(AwsResource):
    token = "aws:lambda/permission:Permission"
    cloudformation = CloudFormationType("AWS::Lambda::Permission")
    replaces = frozenset({"action", "function", "principal", "sourceArn", "sourceAccount", "statementId"})

    @property
    def functions(self) -> Any:
        return self.cloud.client("lambda")

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters = {"SourceArn": news["sourceArn"]} if "sourceArn" in news else {}
        self.functions.add_permission(
            FunctionName=news["function"],
            StatementId=news["statementId"],
            Action=news["action"],
            Principal=news["principal"],
            **parameters,
        )
        return news["statementId"], {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        policy = first_or_none(
            lambda **a: {"it": [self.functions.get_policy(**a)["Policy"]]}, "it", FunctionName=state["function"]
        )
        return {} if policy is not None and f'"{id_}"' in policy else None

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.functions.remove_permission, FunctionName=state["function"], StatementId=id_)
