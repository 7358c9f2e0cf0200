"""Roles Anywhere, activations, budget actions and anomaly monitors check requests as strictly as AWS."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess, running
from tests.graph.support.inventory import ACCOUNT, client, left
from tests.graph.support.permissions_environment import authority

TRUST = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "%s"}, "Action": "sts:AssumeRole"}]}'
DENY = '{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "ec2:RunInstances", "Resource": "*"}]}'
ROLE = f"arn:aws:iam::{ACCOUNT}:role"
NOBODY = f"arn:aws:ce::{ACCOUNT}:anomalymonitor/00000000-0000-0000-0000-000000000000"
CA = authority()
MONITOR = {"MonitorName": "m", "MonitorType": "DIMENSIONAL", "MonitorDimension": "SERVICE"}
OURS = {"Tags": {"Key": "landbridge:cluster", "Values": ["test"], "MatchOptions": ["EQUALS"]}}
DAILY = {"Frequency": "DAILY", "Subscribers": [{"Type": "EMAIL", "Address": "a@example.org"}]}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", "--launcher", "none") as emulator:
        yield emulator


@pytest.fixture
def aws(shared: EmulatorProcess) -> EmulatorProcess:
    return furnished(shared)


@pytest.fixture(scope="class")
def untouched(shared: EmulatorProcess) -> Iterator[EmulatorProcess]:
    """Return an emulator for many requests, none of which may leave a resource."""
    before = left(furnished(shared))
    yield shared
    assert left(shared) == before


def furnished(cloud: EmulatorProcess) -> EmulatorProcess:
    """Reset the emulated AWS to one role per service, a policy and a budget."""
    cloud.control(wipe=True)
    iam = client(cloud, "iam")
    for name, service in {"site": "ssm", "launch": "ec2", "stop": "budgets"}.items():
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST % f"{service}.amazonaws.com", Path="/team/")
    iam.create_policy(PolicyName="deny", PolicyDocument=DENY)
    client(cloud, "budgets").create_budget(AccountId=ACCOUNT, Budget=budget())
    return cloud


def budget(name: str = "b", **fields: Any) -> dict[str, Any]:
    limit = {"Amount": "10", "Unit": "USD"}
    return {"BudgetName": name, "BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": limit, **fields}


def action(**fields: Any) -> dict[str, Any]:
    iam = {"PolicyArn": f"arn:aws:iam::{ACCOUNT}:policy/deny", "Roles": ["launch"]}
    return {
        "AccountId": ACCOUNT,
        "BudgetName": "b",
        "NotificationType": "ACTUAL",
        "ActionType": "APPLY_IAM_POLICY",
        "ActionThreshold": {"ActionThresholdValue": 100, "ActionThresholdType": "PERCENTAGE"},
        "Definition": {"IamActionDefinition": iam},
        "ExecutionRoleArn": f"{ROLE}/team/stop",
        "ApprovalModel": "AUTOMATIC",
        "Subscribers": [{"SubscriptionType": "EMAIL", "Address": "a@example.org"}],
        **fields,
    }


def iam_action(**fields: Any) -> dict[str, Any]:
    (definition,) = action()["Definition"].values()
    return {"IamActionDefinition": {**definition, **fields}}


def bundle(text: str = CA) -> dict[str, Any]:
    return {"sourceType": "CERTIFICATE_BUNDLE", "sourceData": {"x509CertificateData": text}}


def ahead(**time: float) -> datetime:
    return datetime.now(UTC) + timedelta(**time)


REFUSED: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("rolesanywhere", "create_trust_anchor", {"name": "a", "source": bundle("nothing")}, "Could not parse"),
    ("rolesanywhere", "create_trust_anchor", {"name": "a", "source": bundle(authority(ca=False, sign=False))}, "constraints"),
    ("rolesanywhere", "create_trust_anchor", {"name": "a", "source": bundle(authority(sign=False))}, "constraints"),
    ("rolesanywhere", "create_trust_anchor", {"name": "a_:b", "source": bundle()}, "failed to satisfy constraint"),
    ("rolesanywhere", "create_trust_anchor", {"name": "a", "source": {**bundle(), "sourceType": "AWS_ACM_PCA"}}, "does not match"),
    ("rolesanywhere", "create_profile", {"name": "p", "roleArns": [f"{ROLE}/nobody"]}, "does not exist"),
    ("rolesanywhere", "create_profile", {"name": "p", "roleArns": [f"{ROLE}/launch"]}, "does not exist"),
    ("rolesanywhere", "create_profile", {"name": "p", "roleArns": [], "durationSeconds": 43201}, "constraint"),
    ("rolesanywhere", "get_profile", {"profileId": "00000000-0000-0000-0000-000000000000"}, "ResourceNotFound"),
    ("ssm", "create_activation", {"IamRole": "nobody"}, "Nonexistent role"),
    ("ssm", "create_activation", {"IamRole": "launch"}, "missing ssm service principal"),
    ("ssm", "create_activation", {"IamRole": "site", "ExpirationDate": ahead(days=31)}, "30 days"),
    ("ssm", "create_activation", {"IamRole": "site", "ExpirationDate": ahead(days=-1)}, "30 days"),
    ("ssm", "create_activation", {"IamRole": "site", "RegistrationLimit": 1001}, "failed to satisfy constraint"),
    ("ssm", "delete_activation", {"ActivationId": "00000000-0000-0000-0000-000000000000"}, "InvalidActivation"),
    ("budgets", "create_budget", {"AccountId": ACCOUNT, "Budget": budget()}, "DuplicateRecord"),
    ("budgets", "create_budget", {"AccountId": "210987654321", "Budget": budget("c")}, "AccessDenied"),
    ("budgets", "create_budget", {"AccountId": ACCOUNT, "Budget": budget("c", TimeUnit="WEEKLY")}, "constraint"),
    ("budgets", "update_budget", {"AccountId": ACCOUNT, "NewBudget": budget("c")}, "NotFound"),
    ("budgets", "update_budget", {"AccountId": ACCOUNT, "NewBudget": budget(TimeUnit="DAILY")}, "cannot be changed"),
    ("budgets", "create_budget_action", action(BudgetName="c"), "NotFound"),
    ("budgets", "create_budget_action", action(ExecutionRoleArn=f"{ROLE}/team/launch"), "AccessDenied"),
    ("budgets", "create_budget_action", action(ExecutionRoleArn=f"{ROLE}/team/nobody"), "AccessDenied"),
    ("budgets", "create_budget_action", action(ActionType="RUN_SSM_DOCUMENTS"), "needs a SsmActionDefinition"),
    ("budgets", "create_budget_action", action(Definition=iam_action(Roles=["nobody"])), "does not exist"),
    ("budgets", "create_budget_action", action(Definition=iam_action(PolicyArn=f"arn:aws:iam::{ACCOUNT}:policy/x")), "does not exist"),
    ("budgets", "create_budget_action", action(Subscribers=action()["Subscribers"] * 12), "constraint"),
    ("ce", "create_anomaly_monitor", {"AnomalyMonitor": {**MONITOR, "MonitorType": "CUSTOM"}}, "needs a dimension or"),
    ("ce", "create_anomaly_monitor", {"AnomalyMonitor": {**MONITOR, "MonitorSpecification": OURS}}, "needs a dimension or"),
    ("ce", "create_anomaly_subscription",
     {"AnomalySubscription": {**DAILY, "SubscriptionName": "s", "MonitorArnList": [NOBODY], "Threshold": 1.0}}, "UnknownMonitor"),
    ("ce", "create_anomaly_subscription",
     {"AnomalySubscription": {**DAILY, "SubscriptionName": "s", "MonitorArnList": [], "Threshold": 1.0}}, "needs a monitor"),
    ("ce", "get_anomaly_monitors", {"MonitorArnList": [NOBODY]}, "UnknownMonitor"),
    ("ce", "delete_anomaly_subscription", {"SubscriptionArn": NOBODY}, "UnknownSubscription"),
    ("iam", "attach_role_policy", {"RoleName": "site", "PolicyArn": "arn:aws:iam::aws:policy/NoSuchThing"}, "NoSuchEntity"),
)  # fmt: skip


class TestRefusals:
    @pytest.mark.parametrize(("service", "operation", "arguments", "message"), REFUSED)
    def test_an_invalid_request_is_refused(
        self, untouched: EmulatorProcess, service: str, operation: str, arguments: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ClientError) as error:
            getattr(client(untouched, service), operation)(**arguments)
        assert message in str(error.value), error.value


def test_an_account_has_only_one_anomaly_monitor_by_service(aws: EmulatorProcess) -> None:
    costs = client(aws, "ce")
    costs.create_anomaly_monitor(AnomalyMonitor=MONITOR)
    with pytest.raises(ClientError, match="Limit exceeded on dimensional spend monitor creation"):
        costs.create_anomaly_monitor(AnomalyMonitor={**MONITOR, "MonitorName": "another"})
    custom = {"MonitorName": "m", "MonitorType": "CUSTOM", "MonitorSpecification": OURS}
    arn = costs.create_anomaly_monitor(AnomalyMonitor=custom)["MonitorArn"]
    watch = {**DAILY, "SubscriptionName": "s", "MonitorArnList": [arn]}
    with pytest.raises(ClientError, match="cannot both be null"):
        costs.create_anomaly_subscription(AnomalySubscription=watch)
    with pytest.raises(ClientError, match="IMMEDIATE only support subscribers of type SNS"):
        costs.create_anomaly_subscription(AnomalySubscription={**watch, "Frequency": "IMMEDIATE", "Threshold": 1.0})
    subscription_arn = costs.create_anomaly_subscription(AnomalySubscription={**watch, "Threshold": 1.0})[
        "SubscriptionArn"
    ]
    (anomaly_subscription,) = costs.get_anomaly_subscriptions(MonitorArn=arn)["AnomalySubscriptions"]
    assert anomaly_subscription["SubscriptionArn"] == subscription_arn and anomaly_subscription["AccountId"] == ACCOUNT


def test_a_cost_allocation_tag_exists_only_after_billing_has_seen_it(aws: EmulatorProcess) -> None:
    costs, statuses = client(aws, "ce"), [{"TagKey": "landbridge:cluster", "Status": "Active"}]
    (failed,) = costs.update_cost_allocation_tags_status(CostAllocationTagsStatus=statuses)["Errors"]
    assert failed["Code"] == "TagKeysNotFoundException"
    aws.control(billed_tags=["landbridge:cluster"])
    assert costs.list_cost_allocation_tags(Status="Active")["CostAllocationTags"] == []
    assert costs.update_cost_allocation_tags_status(CostAllocationTagsStatus=statuses)["Errors"] == []
    (cost_allocation_tag,) = costs.list_cost_allocation_tags()["CostAllocationTags"]
    assert (cost_allocation_tag["TagKey"], cost_allocation_tag["Status"]) == ("landbridge:cluster", "Active")


def test_a_budget_action_is_unique_and_deleted_with_its_budget(aws: EmulatorProcess) -> None:
    budgets = client(aws, "budgets")
    id_ = budgets.create_budget_action(**action())["ActionId"]
    with pytest.raises(ClientError, match="DuplicateRecord"):
        budgets.create_budget_action(**action())
    budgets.create_budget_action(**action(NotificationType="FORECASTED"))
    name = {"AccountId": ACCOUNT, "BudgetName": "b"}
    budgets.update_budget_action(**name, ActionId=id_, ApprovalModel="MANUAL")
    assert budgets.describe_budget_action(**name, ActionId=id_)["Action"]["ApprovalModel"] == "MANUAL"
    budgets.update_budget(AccountId=ACCOUNT, NewBudget=budget(BudgetLimit={"Amount": "20", "Unit": "USD"}))
    assert len(budgets.describe_budget_actions_for_budget(**name)["Actions"]) == 2
    budgets.delete_budget(**name)
    with pytest.raises(ClientError, match="NotFound"):
        budgets.describe_budget_action(**name, ActionId=id_)


def test_an_activation_expires_and_its_code_is_returned_once(aws: EmulatorProcess) -> None:
    ssm = client(aws, "ssm")
    created = [ssm.create_activation(IamRole="site", DefaultInstanceName=f"m{number}") for number in range(3)]
    assert len(created[0]["ActivationCode"]) == 20
    pages = ssm.get_paginator("describe_activations").paginate(PaginationConfig={"PageSize": 2})
    activations = [activation for page in pages for activation in page["ActivationList"]]
    assert [activation["ActivationId"] for activation in activations] == [
        activation["ActivationId"] for activation in created
    ]
    assert not any("ActivationCode" in activation or activation["Expired"] for activation in activations)
    aws.control(clock=25 * 3600)
    assert all(activation["Expired"] for activation in ssm.describe_activations()["ActivationList"])
    aws.control(clock=0)
    assert client(aws, "ssm", "eu-central-1").describe_activations()["ActivationList"] == []


def test_a_trust_anchor_is_regional_and_names_are_not_unique(aws: EmulatorProcess) -> None:
    anywhere = client(aws, "rolesanywhere")
    created = [anywhere.create_trust_anchor(name="site", source=bundle())["trustAnchor"] for _ in range(2)]
    assert created[0]["trustAnchorId"] != created[1]["trustAnchorId"] and created[0]["enabled"] is False
    anchor_id = {"trustAnchorId": created[0]["trustAnchorId"]}
    assert {notification_setting["threshold"] for notification_setting in created[0]["notificationSettings"]} == {45}
    assert anywhere.enable_trust_anchor(**anchor_id)["trustAnchor"]["enabled"] is True
    tags = [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}]
    anywhere.tag_resource(resourceArn=created[0]["trustAnchorArn"], tags=tags)
    anywhere.untag_resource(resourceArn=created[0]["trustAnchorArn"], tagKeys=["a"])
    assert anywhere.list_tags_for_resource(resourceArn=created[0]["trustAnchorArn"])["tags"] == tags[1:]
    with pytest.raises(ClientError, match="ResourceNotFound"):
        client(aws, "rolesanywhere", "eu-central-1").get_trust_anchor(**anchor_id)
    aws.control(deny=["rolesanywhere:ListTrustAnchors"])
    with pytest.raises(ClientError, match="AccessDenied"):
        anywhere.list_trust_anchors()
    aws.control(deny=[])
    assert len(anywhere.list_trust_anchors()["trustAnchors"]) == 2


def test_a_call_that_is_not_implemented_is_an_error(aws: EmulatorProcess) -> None:
    with pytest.raises(ClientError, match="NotImplementedInSandbox"):
        client(aws, "rolesanywhere").list_crls()


def test_a_reset_removes_every_resource(aws: EmulatorProcess) -> None:
    client(aws, "ssm").create_activation(IamRole="site")
    client(aws, "rolesanywhere").create_trust_anchor(name="site", source=bundle())
    client(aws, "ce").create_anomaly_monitor(AnomalyMonitor=MONITOR)
    client(aws, "budgets").create_budget_action(**action())
    aws.control(wipe=True)
    remaining = left(aws)
    assert not any(remaining[kind] for kind in ("activations", "trust anchors", "anomalies", "budgets", "roles"))
