"""Functions, schedules, budgets, and a policy that stands by itself."""

from typing import Any

from landbridge.guard.package import archive
from sandbox.engine.aws.base import Bag, Kind, Refused, found, gone, tag_list, tag_map
from sandbox.engine.aws.iam import same_document


class Function(Kind):
    token = "aws:lambda/function:Function"
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
            raise Refused("the sandbox takes a function's code as an archive of texts")
        return archive({name: asset["text"] for name, asset in assets.items()})

    def create(self, news: Bag) -> tuple[str, Bag]:
        made = self.functions.create_function(
            FunctionName=news["name"],
            Code={"ZipFile": self._code(news)},
            Architectures=news.get("architectures", ["x86_64"]),
            Tags=news.get("tags") or {},
            **self._settings(news),
        )
        return news["name"], {"arn": made["FunctionArn"], "codeSha256": made["CodeSha256"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        function = found(lambda **a: {"it": [self.functions.get_function(**a)]}, "it", FunctionName=id_)
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
            made = self.functions.update_function_code(FunctionName=id_, ZipFile=self._code(news))
            outputs["codeSha256"] = made["CodeSha256"]
        if changed - {"code", "tags"}:
            self.functions.update_function_configuration(FunctionName=id_, **self._settings(news))
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            self.functions.untag_resource(Resource=arn, TagKeys=[key for key in before if key not in after])
            self.functions.tag_resource(Resource=arn, Tags=after)
        return outputs

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.functions.delete_function, FunctionName=id_)


class Permission(Kind):
    token = "aws:lambda/permission:Permission"
    replaces = frozenset({"action", "function", "principal", "sourceArn", "sourceAccount", "statementId"})

    @property
    def functions(self) -> Any:
        return self.cloud.client("lambda")

    def create(self, news: Bag) -> tuple[str, Bag]:
        given = {"SourceArn": news["sourceArn"]} if "sourceArn" in news else {}
        self.functions.add_permission(
            FunctionName=news["function"],
            StatementId=news["statementId"],
            Action=news["action"],
            Principal=news["principal"],
            **given,
        )
        return news["statementId"], {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        policy = found(
            lambda **a: {"it": [self.functions.get_policy(**a)["Policy"]]}, "it", FunctionName=state["function"]
        )
        return {} if policy is not None and f'"{id_}"' in policy else None

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.functions.remove_permission, FunctionName=state["function"], StatementId=id_)


class EventRule(Kind):
    token = "aws:cloudwatch/eventRule:EventRule"
    replaces = frozenset({"name", "namePrefix", "eventBusName"})
    autoname = "name"

    @property
    def events(self) -> Any:
        return self.cloud.client("events")

    def create(self, news: Bag) -> tuple[str, Bag]:
        given = {"ScheduleExpression": news["scheduleExpression"]} if "scheduleExpression" in news else {}
        given |= {"EventPattern": news["eventPattern"]} if "eventPattern" in news else {}
        made = self.events.put_rule(
            Name=news["name"], Description=news.get("description", ""), Tags=tag_list(news.get("tags")), **given
        )
        return news["name"], {"arn": made["RuleArn"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        rule = found(lambda **a: {"it": [self.events.describe_rule(**a)]}, "it", Name=id_)
        if rule is None:
            return None
        tags = self.events.list_tags_for_resource(ResourceARN=rule["Arn"])["Tags"]
        seen = {"arn": rule["Arn"], "scheduleExpression": rule.get("ScheduleExpression"), "tags": tag_map(tags)}
        return {**seen, "description": rule.get("Description", "")}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            dropped = [key for key in before if key not in after]
            self.events.untag_resource(ResourceARN=state["arn"], TagKeys=dropped)
            self.events.tag_resource(ResourceARN=state["arn"], Tags=tag_list(after))
        return self.create({**news, "tags": None})[1]

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.events.delete_rule, Name=id_)


class EventTarget(Kind):
    token = "aws:cloudwatch/eventTarget:EventTarget"
    replaces = frozenset({"rule", "targetId", "eventBusName"})

    @property
    def events(self) -> Any:
        return self.cloud.client("events")

    def create(self, news: Bag) -> tuple[str, Bag]:
        self.events.put_targets(Rule=news["rule"], Targets=[{"Id": news["targetId"], "Arn": news["arn"]}])
        return f"{news['rule']}-{news['targetId']}", {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        try:
            targets = self.events.list_targets_by_rule(Rule=state["rule"])["Targets"]
        except self.events.exceptions.ResourceNotFoundException:
            return None
        return next(({"arn": one["Arn"]} for one in targets if one["Id"] == state["targetId"]), None)

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        return self.create(news)[1]

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.events.remove_targets, Rule=state["rule"], Ids=[state["targetId"]])


class Budget(Kind):
    """The emulated AWS cannot change a budget: here it goes and comes back, which the real one need not."""

    token = "aws:budgets/budget:Budget"
    replaces = frozenset({"name", "namePrefix", "budgetType", "timeUnit"})
    autoname = "name"

    @property
    def budgets(self) -> Any:
        return self.cloud.client("budgets")

    def create(self, news: Bag) -> tuple[str, Bag]:
        account = self.cloud.account
        filters = {one["name"]: one["values"] for one in news.get("costFilters") or []}
        self.budgets.create_budget(
            AccountId=account,
            Budget={
                "BudgetName": news["name"],
                "BudgetType": news["budgetType"],
                "TimeUnit": news["timeUnit"],
                "BudgetLimit": {"Amount": news["limitAmount"], "Unit": news["limitUnit"]},
                **({"CostFilters": filters} if filters else {}),
            },
            NotificationsWithSubscribers=[_notification(one) for one in news.get("notifications") or []],
        )
        return f"{account}:{news['name']}", {
            "arn": f"arn:aws:budgets::{account}:budget/{news['name']}",
            "accountId": account,
        }

    def _name(self, id_: str) -> Bag:
        return {"AccountId": self.cloud.account, "BudgetName": id_.partition(":")[2]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        budget = found(lambda **a: {"it": [self.budgets.describe_budget(**a)["Budget"]]}, "it", **self._name(id_))
        if budget is None:
            return None
        limit = budget["BudgetLimit"]
        return {"name": budget["BudgetName"], "limitAmount": limit["Amount"], "limitUnit": limit["Unit"]}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed != {"tags"}:
            self.delete(id_, state)
            return self.create(news)[1]
        return {"arn": state["arn"], "accountId": state["accountId"]}

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.budgets.delete_budget, **self._name(id_))


def _notification(one: Bag) -> Bag:
    people = [{"SubscriptionType": "EMAIL", "Address": each} for each in one.get("subscriberEmailAddresses") or []]
    return {
        "Notification": {
            "NotificationType": one["notificationType"],
            "ComparisonOperator": one["comparisonOperator"],
            "Threshold": one["threshold"],
            "ThresholdType": one["thresholdType"],
        },
        "Subscribers": people,
    }


class Policy(Kind):
    token = "aws:iam/policy:Policy"
    replaces = frozenset({"name", "namePrefix", "path", "description"})
    autoname = "name"

    @property
    def iam(self) -> Any:
        return self.cloud.client("iam")

    def create(self, news: Bag) -> tuple[str, Bag]:
        made = self.iam.create_policy(
            PolicyName=news["name"],
            Path=news.get("path", "/"),
            PolicyDocument=news["policy"],
            Description=news.get("description", ""),
            Tags=tag_list(news.get("tags")),
        )["Policy"]
        return made["Arn"], {"arn": made["Arn"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        policy = found(lambda **a: {"it": [self.iam.get_policy(**a)["Policy"]]}, "it", PolicyArn=id_)
        if policy is None:
            return None
        version = self.iam.get_policy_version(PolicyArn=id_, VersionId=policy["DefaultVersionId"])["PolicyVersion"]
        return {"policy": same_document(state["policy"], version["Document"]), "tags": tag_map(policy.get("Tags"))}

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.iam.delete_policy, PolicyArn=id_)


class Trail(Kind):
    token = "aws:cloudtrail/trail:Trail"
    replaces = frozenset({"name"})
    autoname = "name"

    @property
    def trails(self) -> Any:
        return self.cloud.client("cloudtrail")

    def create(self, news: Bag) -> tuple[str, Bag]:
        made = self.trails.create_trail(
            Name=news["name"],
            S3BucketName=news["s3BucketName"],
            IsMultiRegionTrail=news.get("isMultiRegionTrail", False),
            IncludeGlobalServiceEvents=news.get("includeGlobalServiceEvents", True),
            EnableLogFileValidation=news.get("enableLogFileValidation", False),
            TagsList=tag_list(news.get("tags")),
        )
        if news.get("enableLogging", True):
            self.trails.start_logging(Name=news["name"])
        return made["TrailARN"], {"arn": made["TrailARN"], "homeRegion": self.cloud.region}

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


KINDS = (Function, Permission, EventRule, EventTarget, Budget, Policy, Trail)
