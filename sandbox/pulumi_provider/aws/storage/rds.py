"""RDS database instances."""

from typing import Any

from botocore.exceptions import ClientError

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    error_code,
    tag_list,
    tag_map,
)

#: RDS's names of inputs that are set only at creation.
_CREATE_ONLY = {
    "identifier": "DBInstanceIdentifier",
    "engine": "Engine",
    "username": "MasterUsername",
    "dbName": "DBName",
    "availabilityZone": "AvailabilityZone",
    "storageEncrypted": "StorageEncrypted",
    "kmsKeyId": "KmsKeyId",
    "dbSubnetGroupName": "DBSubnetGroupName",
    "port": "Port",
}


#: RDS's names of inputs that can change.
_CHANGING = {
    "instanceClass": "DBInstanceClass",
    "allocatedStorage": "AllocatedStorage",
    "maxAllocatedStorage": "MaxAllocatedStorage",
    "storageType": "StorageType",
    "engineVersion": "EngineVersion",
    "multiAz": "MultiAZ",
    "backupRetentionPeriod": "BackupRetentionPeriod",
    "backupWindow": "PreferredBackupWindow",
    "maintenanceWindow": "PreferredMaintenanceWindow",
    "autoMinorVersionUpgrade": "AutoMinorVersionUpgrade",
    "parameterGroupName": "DBParameterGroupName",
    "vpcSecurityGroupIds": "VpcSecurityGroupIds",
    "publiclyAccessible": "PubliclyAccessible",
    "deletionProtection": "DeletionProtection",
    "copyTagsToSnapshot": "CopyTagsToSnapshot",
    "manageMasterUserPassword": "ManageMasterUserPassword",
    "masterUserSecretKmsKeyId": "MasterUserSecretKmsKeyId",
    "caCertIdentifier": "CACertificateIdentifier",
    "iamDatabaseAuthenticationEnabled": "EnableIAMDatabaseAuthentication",
    "password": "MasterUserPassword",
    "allowMajorVersionUpgrade": "AllowMajorVersionUpgrade",
}


#: Inputs that RDS does not have: options of the deletion, and of changes.
_PROVIDER_ONLY = {
    *("skipFinalSnapshot", "finalSnapshotIdentifier", "deleteAutomatedBackups", "applyImmediately", "tags", "region"),
    *("allowMajorVersionUpgrade", "enabledCloudwatchLogsExports"),
}


class RdsResource(AwsResource):
    """RDS resource with a name: its description, its tags and its ARN."""

    @property
    def rds(self) -> Any:
        return self.cloud.client("rds")

    def first_by_name(self, operation: str, key: str, **name: str) -> Any | None:
        """Return the resource of this name, or None. RDS has a separate error code for each resource type."""
        try:
            answer = getattr(self.rds, operation)(**name)[key]
        except ClientError as error:
            if "NotFound" in error_code(error):
                return None
            raise
        return answer[0] if answer else None

    def tags(self, arn: str) -> dict[str, str] | None:
        """Return the tags of a resource."""
        return tag_map(self.rds.list_tags_for_resource(ResourceName=arn)["TagList"])

    def retag(self, arn: str, state: Bag, news: Bag) -> None:
        """Set the tags of the new inputs, and delete the others."""
        before, after = state.get("tags") or {}, news.get("tags") or {}
        dropped = [key for key in before if key not in after]
        if dropped:
            self.rds.remove_tags_from_resource(ResourceName=arn, TagKeys=dropped)
        if after:
            self.rds.add_tags_to_resource(ResourceName=arn, Tags=tag_list(after))

    def arn(self, kind: str, name: str) -> str:
        """Return the ARN of a resource of this account."""
        return self.cloud.arn("rds", f"{kind}:{name}")


class DbInstanceResource(RdsResource):
    """RDS DB instance. With a fixed name, a replacement deletes the old instance before it creates the new one."""

    token = "aws:rds/instance:Instance"
    cloudformation = CloudFormationType(
        "AWS::RDS::DBInstance",
        names={
            "identifier": "DBInstanceIdentifier",
            "instanceClass": "DBInstanceClass",
            "username": "MasterUsername",
            "parameterGroupName": "DBParameterGroupName",
        },
        more=(
            "backupretentionperiod_maximum",
            "kmskey_storageencrypted",
        ),
    )
    replaces = frozenset(
        {
            *("identifier", "engine", "username", "dbName", "availabilityZone", "storageEncrypted", "kmsKeyId"),
            *("dbSubnetGroupName", "port", "characterSetName", "snapshotIdentifier", "identifierPrefix"),
        }
    )
    autoname = "identifier"

    def _item(self, name: str) -> Any | None:
        return self.first_by_name("describe_db_instances", "DBInstances", DBInstanceIdentifier=name)

    def create(self, news: Bag) -> tuple[str, Bag]:
        unknown = set(news) - set(_CREATE_ONLY) - set(_CHANGING) - _PROVIDER_ONLY
        if unknown:
            raise ProviderError(f"{self.token}: the sandbox does not know {', '.join(sorted(unknown))}")
        names = {**_CREATE_ONLY, **_CHANGING}
        parameters = {
            names[key]: value for key, value in news.items() if key in names and key != "allowMajorVersionUpgrade"
        }
        logs = (
            {"EnableCloudwatchLogsExports": news["enabledCloudwatchLogsExports"]}
            if news.get("enabledCloudwatchLogsExports")
            else {}
        )
        db_instance = self.rds.create_db_instance(**parameters, **logs, Tags=tag_list(news.get("tags")))["DBInstance"]
        id_ = self.exists(str(db_instance["DbiResourceId"]))
        return id_, self._outputs(self._item(db_instance["DBInstanceIdentifier"]) or db_instance)

    def _outputs(self, item: Any) -> Bag:
        address, port = item["Endpoint"]["Address"], item["Endpoint"]["Port"]
        secret = item.get("MasterUserSecret")
        return {
            "arn": self.arn("db", item["DBInstanceIdentifier"]),
            "identifier": item["DBInstanceIdentifier"],
            "address": address,
            "port": port,
            "endpoint": f"{address}:{port}",
            "resourceId": item["DbiResourceId"],
            "status": item["DBInstanceStatus"],
            "engineVersionActual": item["EngineVersion"],
            "availabilityZone": item.get("AvailabilityZone"),
            "masterUserSecrets": [
                {"kmsKeyId": secret.get("KmsKeyId"), "secretArn": secret["SecretArn"], "secretStatus": "active"}
            ]
            if secret
            else [],
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self._item(state["identifier"])
        if item is None:
            return None
        names = {key: word for key, word in {**_CREATE_ONLY, **_CHANGING}.items() if word in item}
        seen = {key: item[word] for key, word in names.items() if key in state}
        if str(item["EngineVersion"]).startswith(str(state.get("engineVersion", ""))):
            seen.pop("engineVersion", None)  # the input is a major version, AWS returns the current minor version
        if "dbSubnetGroupName" in state:
            seen["dbSubnetGroupName"] = item["DBSubnetGroup"]["DBSubnetGroupName"]
        if "vpcSecurityGroupIds" in state:
            groups = [group["VpcSecurityGroupId"] for group in item["VpcSecurityGroups"]]
            seen["vpcSecurityGroupIds"] = (
                state["vpcSecurityGroupIds"] if set(groups) == set(state["vpcSecurityGroupIds"]) else groups
            )
        if "parameterGroupName" in state:
            seen["parameterGroupName"] = item["DBParameterGroups"][0]["DBParameterGroupName"]
        return {**seen, **self._outputs(item), "tags": self.tags(self.arn("db", item["DBInstanceIdentifier"]))}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        other_changes = changed - set(_CHANGING) - _PROVIDER_ONLY
        if other_changes:
            super().update(id_, state, news, other_changes)
        name, changes = (
            state["identifier"],
            {_CHANGING[key]: news[key] for key in changed & set(_CHANGING) if key in news},
        )
        if changes:
            upgrade = {"AllowMajorVersionUpgrade": True} if news.get("allowMajorVersionUpgrade") else {}
            self.rds.modify_db_instance(
                DBInstanceIdentifier=name, ApplyImmediately=bool(news.get("applyImmediately")), **changes, **upgrade
            )
        if "tags" in changed:
            self.retag(self.arn("db", name), state, news)
        return self._outputs(self._item(name))

    def delete(self, id_: str, state: Bag) -> None:
        name = state["identifier"]
        if self._item(name) is None:
            return
        final = {"FinalDBSnapshotIdentifier": state.get("finalSnapshotIdentifier", "")}
        options: Bag = {"SkipFinalSnapshot": True} if state.get("skipFinalSnapshot") else final
        self.rds.delete_db_instance(
            DBInstanceIdentifier=name, DeleteAutomatedBackups=bool(state.get("deleteAutomatedBackups", True)), **options
        )
