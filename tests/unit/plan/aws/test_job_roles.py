"""Roles of jobs: which classes have one, their names, the hosts that may assume them, and the conditions of nodes."""

import json

from landbridge.environment import Environment
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.identity import documents, identity_args
from landbridge.plan.aws.access.job_roles import job_role_name, job_roles, trust
from sandbox.nspawn import from_environment

PLACE = ArnContext("sandbox", "aws", "us-east-1", "123456789012")
NODE = "arn:aws:iam::123456789012:role/sandbox-node"


def environment(**changes: object) -> Environment:
    """Return the sandbox's environment with changes of its `aws` section."""
    sandbox = from_environment.environment("sandbox")
    return sandbox.model_copy(update={"aws": sandbox.aws.model_copy(update=changes)})


def node_conditions(chosen: Environment) -> list[dict[str, dict[str, str]]]:
    args = identity_args(chosen)
    arns = {plan.data_class: f"arn:aws:x:::{plan.data_class}" for plan in args.jobs}
    text = documents(args, PLACE, arns, arns, [NODE], arns, "arn:aws:secretsmanager:::x").node
    return [row["Condition"] for row in json.loads(text)["Statement"] if row["Effect"] == "Allow"]


def test_each_class_that_may_be_in_aws_has_a_role_and_no_other_class() -> None:
    assert [(plan.data_class, plan.name, plan.may_delete) for plan in job_roles(environment())] == [
        ("internal", "sandbox-job-internal", False)
    ]


def test_a_role_name_is_at_most_as_long_as_iam_allows() -> None:
    name = job_role_name("a" * 24, "b" * 63)
    assert len(name) == 64 and name != job_role_name("a" * 24, "b" * 62)


def test_the_credentials_of_an_instance_are_bound_to_its_address_where_it_has_endpoints() -> None:
    sandbox = environment()
    assert [set(condition) for condition in node_conditions(sandbox)] == [{"ArnLike"}, {"ArnLike"}]
    endpoints = sandbox.aws.endpoints.model_copy(update={"operator": None, "onprem": None, "cloud": None})
    closed = environment(nat="none", vpc_endpoints="derived", endpoints=endpoints)
    for condition in node_conditions(closed):
        assert condition["StringEquals"] == {
            "aws:Ec2InstanceSourceVpc": "${aws:SourceVpc}",
            "aws:Ec2InstanceSourcePrivateIPv4": "${aws:VpcSourceIp}",
        }


def test_a_trust_policy_with_many_on_prem_nodes_stays_below_its_size_limit() -> None:
    (plan,) = job_roles(environment())
    few = plan.model_copy(update={"hosts": ("dgx01", "dgx02")})
    (_, _, statement) = json.loads(trust(few, PLACE, [NODE], "arn:aws:rolesanywhere:::x"))["Statement"]
    assert statement["Condition"]["StringEquals"]["aws:PrincipalTag/x509Subject/CN"] == ["dgx01", "dgx02"]
    many = plan.model_copy(update={"hosts": ("dgx???",)})
    text = trust(many, PLACE, [NODE], "arn:aws:rolesanywhere:::x")
    (_, _, statement) = json.loads(text)["Statement"]
    assert statement["Condition"]["StringLike"] == {"aws:PrincipalTag/x509Subject/CN": ["dgx???"]}
    assert "aws:SourceAccount" in statement["Condition"]["StringEquals"] and len(text) < 2048
