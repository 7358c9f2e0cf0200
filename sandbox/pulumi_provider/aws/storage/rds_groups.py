"""RDS subnet groups and parameter groups."""

from sandbox.pulumi_provider.aws.base import (
    Bag,
    CloudFormationType,
    ProviderError,
    tag_list,
)
from sandbox.pulumi_provider.aws.storage.rds import RdsResource


class DbSubnetGroupResource(RdsResource):
    token = "aws:rds/subnetGroup:SubnetGroup"
    cloudformation = CloudFormationType("AWS::RDS::DBSubnetGroup", names={"name": "DBSubnetGroupName"})
    replaces = frozenset({"name", "namePrefix"})
    autoname = "name"

    def create(self, news: Bag) -> tuple[str, Bag]:
        self.rds.create_db_subnet_group(
            DBSubnetGroupName=news["name"],
            DBSubnetGroupDescription=news.get("description", "Managed by Pulumi"),
            SubnetIds=news["subnetIds"],
            Tags=tag_list(news.get("tags")),
        )
        return news["name"], {"arn": self.arn("subgrp", news["name"])}

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self.first_by_name("describe_db_subnet_groups", "DBSubnetGroups", DBSubnetGroupName=id_)
        if item is None:
            return None
        subnets = [subnet["SubnetIdentifier"] for subnet in item["Subnets"]]
        unchanged = set(subnets) == set(state.get("subnetIds") or ())
        return {
            "subnetIds": state["subnetIds"] if unchanged else subnets,
            "description": item["DBSubnetGroupDescription"],
            "tags": self.tags(self.arn("subgrp", id_)),
            "arn": self.arn("subgrp", id_),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed & {"subnetIds", "description"}:
            self.rds.modify_db_subnet_group(
                DBSubnetGroupName=id_,
                DBSubnetGroupDescription=news.get("description", "Managed by Pulumi"),
                SubnetIds=news["subnetIds"],
            )
        if "tags" in changed:
            self.retag(self.arn("subgrp", id_), state, news)
        return {"arn": self.arn("subgrp", id_)}

    def delete(self, id_: str, state: Bag) -> None:
        if self.first_by_name("describe_db_subnet_groups", "DBSubnetGroups", DBSubnetGroupName=id_) is not None:
            self.rds.delete_db_subnet_group(DBSubnetGroupName=id_)


class DbParameterGroupResource(RdsResource):
    token = "aws:rds/parameterGroup:ParameterGroup"
    cloudformation = CloudFormationType("AWS::RDS::DBParameterGroup", names={"name": "DBParameterGroupName"})
    replaces = frozenset({"name", "namePrefix", "family", "description"})
    autoname = "name"

    def create(self, news: Bag) -> tuple[str, Bag]:
        self.rds.create_db_parameter_group(
            DBParameterGroupName=news["name"],
            DBParameterGroupFamily=news["family"],
            Description=news.get("description", "Managed by Pulumi"),
            Tags=tag_list(news.get("tags")),
        )
        self.finish(self.exists(news["name"]), news)
        return news["name"], {"arn": self.arn("pg", news["name"])}

    def finish(self, id_: str, news: Bag) -> None:
        """Set the parameters; RDS accepts them only in a second call."""
        parameters = [
            {
                "ParameterName": parameter["name"],
                "ParameterValue": parameter["value"],
                "ApplyMethod": parameter.get("applyMethod", "immediate"),
            }
            for parameter in news.get("parameters") or []
        ]
        if parameters:
            self.rds.modify_db_parameter_group(DBParameterGroupName=id_, Parameters=parameters)

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self.first_by_name("describe_db_parameter_groups", "DBParameterGroups", DBParameterGroupName=id_)
        if item is None:
            return None
        parameters = self.rds.describe_db_parameters(DBParameterGroupName=id_)["Parameters"]
        values = {row["ParameterName"]: row["ParameterValue"] for row in parameters if "ParameterValue" in row}
        current = [
            {**parameter, "value": values.get(parameter["name"], parameter["value"])}
            for parameter in state.get("parameters") or []
        ]
        arn, family = self.arn("pg", id_), item["DBParameterGroupFamily"]
        return {"family": family, "parameters": current, "tags": self.tags(arn), "arn": arn}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        before = {parameter["name"] for parameter in state.get("parameters") or []}
        if before - {parameter["name"] for parameter in news.get("parameters") or []}:
            raise ProviderError(f"{self.token}: the sandbox cannot give a parameter its default back")
        if "parameters" in changed:
            self.finish(id_, news)
        if "tags" in changed:
            self.retag(self.arn("pg", id_), state, news)
        return {"arn": self.arn("pg", id_)}

    def delete(self, id_: str, state: Bag) -> None:
        if (
            self.first_by_name("describe_db_parameter_groups", "DBParameterGroups", DBParameterGroupName=id_)
            is not None
        ):
            self.rds.delete_db_parameter_group(DBParameterGroupName=id_)
