"""Agreement of the placement with what enforces it, over generated jobs and environments: job_submit.lua in a real Lua
interpreter, partitions, the burst controller's filter before a launch, the service control policy and the policies of roles,
buckets and keys in the IAM evaluator, MLflow's servers, and exports."""

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from landbridge.burst.model import BurstPolicy
from landbridge.burst.reconcile.residency import data_class_of, reject_if_restricted
from landbridge.environment import Environment
from landbridge.environment.base import Site
from landbridge.findings import DataPath
from landbridge.ops.iam import Document, Policies, Request, evaluate
from landbridge.ops.residency.class_policy import class_policies
from landbridge.ops.residency.compiled import CompiledForms, compiled_forms
from landbridge.ops.residency.graph import ONPREM
from landbridge.ops.residency.iam_access import reads, trusts_host, writes
from landbridge.ops.residency.iam_forms import anchor_arn
from landbridge.ops.residency.proof import prove_forms
from landbridge.plan.placement.filters import site_refusals
from landbridge.plan.placement.job import PlacementJob
from landbridge.plan.placement.residency import residency_refusals
from landbridge.plan.placement.service_control_policy import planned_types, service_control_policy
from landbridge.plan.slurm.files import slurm_files
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes
from landbridge.plan.slurm.partitions import default_partition, partition_sites
from landbridge.simulation.scenario import scenario_of
from landbridge.tags import DATA_CLASS
from tests.unit.plan.placement.estate import CLASSES, estate, generated_estates
from tests.unit.plan.slurm.test_job_submit import LUAS, RUN

JOBS = 1500
HOST = """
slurm = setmetatable({SUCCESS = 0, ERROR = -1, ESLURM_ACCESS_DENIED = 2002,
  log_info = function(...) string.format(...) end, log_user = function(...) string.format(...) end},
  {__index = function(_, name) error("slurm." .. name) end})
local KNOWN = {account = true, default_account = true, partition = true, reservation = true, qos = true, name = true, comment = true}
local function job(fields)
  return setmetatable(fields, {__index = function(_, name) assert(KNOWN[name], name) end,
    __newindex = function(_, name) error("sets " .. name) end})
end
assert(dofile(arg[1]) == 0)
"""
ESTATES: dict[str, dict[DataPath, Any]] = {
    "data classes": {},
    "workload classes": CLASSES,
    "burst confined": {("placement", "classes"): {"burst": {"sites": ["onprem"], "instruments": ["owned"]}}},
    "waiting": {("burst",): {"wait_minutes": 10}, **CLASSES},
    "onprem by default": {("scheduler", "partitions", "onprem"): {"default": True}, **CLASSES},
}
ACCOUNTS = ("vision", "lab", "ward", "clinic", "web", "vault", "root", "stranger", "")
PARTITIONS = ("", "gpu", "onprem", "p5", "mixed", "quiet", "onprem,quiet", "gpu,p5", "onprem,p5")
QOS = ("", "normal", "scavenger")
NAMES = ("", "train-1", "train", "serve-x", "a.b-%c", "aXb%c", "x train-1")
COMMENTS = ("", "class=sensitive", "project 7 class=sensitive urgent", "classXsensitive")
WCKEYS = ("", "*", "internal", "restricted", "*ward", "anything", "secret")
REGIONS = ("", "us-east-1", "us-east-2", "eu-west-1", "us-gov-west-1")


def generated_jobs(seed: int) -> list[PlacementJob]:
    """Generate jobs with any labels."""
    pick = random.Random(seed).choice
    return [
        PlacementJob(
            pick(ACCOUNTS),
            1,
            1.0,
            name=pick(NAMES),
            partition=pick(PARTITIONS),
            qos=pick(QOS),
            comment=pick(COMMENTS),
            wckey=pick(WCKEYS),
        )
        for _ in range(JOBS)
    ]


def accepted_by_lua(folder: Path, environment: Environment, jobs: Sequence[PlacementJob], call: str) -> list[bool]:
    """Return the answers of job_submit.lua; `call` has a field list in place of %s."""
    (folder / "job_submit.lua").write_text(slurm_files(environment)["job_submit.lua"])
    lines = []
    for job in jobs:
        labels = {key: asdict(job)[key] for key in ("account", "partition", "qos", "name", "comment")}
        fields = "job{" + ", ".join(f"{key} = {json.dumps(text)}" for key, text in labels.items() if text) + "}"
        lines.append(f"print({call % fields})")
    # A Lua function has a limit of constants, which one chunk of thousands of jobs exceeds.
    chunks = [lines[start : start + 500] for start in range(0, len(lines), 500)]
    body = "\n".join("do\nlocal function part()\n" + "\n".join(chunk) + "\nend\npart()\nend" for chunk in chunks)
    (folder / "host.lua").write_text(HOST + body)
    completed = subprocess.run(
        [sys.executable, "-c", RUN, LUAS[0], str(folder / "host.lua"), str(folder / "job_submit.lua")],
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr[-2000:]
    return [code == "0" for code in completed.stdout.split()]


def accepted_by_plan(environment: Environment, job: PlacementJob) -> bool:
    """Return whether the job may be at every site of its partitions; Slurm starts it at any of them."""
    sites = partition_sites(environment, (*onprem_nodes(environment), *cloud_nodes(environment)))
    names = job.partition.split(",") if job.partition else [default_partition(environment)]
    needed: set[Site] = {site for name in names for site in sites[name]}
    # job_submit.lua does not read WCKeys: the burst controller does.
    return not any(list(site_refusals(environment, replace(job, wckey=""), site)) for site in needed)


@pytest.mark.parametrize("title", ESTATES)
def test_submission_and_modification_are_accepted_where_the_plan_permits_the_job(tmp_path: Path, title: str) -> None:
    environment = estate(ESTATES[title])
    jobs = generated_jobs(seed=len(title))
    expected = [accepted_by_plan(environment, job) for job in jobs]
    assert {True, False} <= set(expected)
    submitted = accepted_by_lua(tmp_path, environment, jobs, "slurm_job_submit(%s, {}, 20001)")
    differing = [
        (job, by_plan) for job, by_plan, by_lua in zip(jobs, expected, submitted, strict=True) if by_plan != by_lua
    ]
    assert not differing, differing[:3]
    with_partition = [job for job in jobs if job.partition]
    # The change has all fields of the job; the job has none of them.
    modified = accepted_by_lua(tmp_path, environment, with_partition, "slurm_job_modify(%s, job{}, {}, 0)")
    expected = [accepted_by_plan(environment, job) for job in with_partition]
    assert [
        job for job, by_plan, by_lua in zip(with_partition, expected, modified, strict=True) if by_plan != by_lua
    ] == []


def test_a_promotion_is_checked_with_the_labels_of_the_job(tmp_path: Path) -> None:
    environment = estate(ESTATES["waiting"])
    jobs = [
        PlacementJob("vision", 1, 1.0, name=name, comment=comment, partition="gpu")
        for name in ("train-1", "other")
        for comment in ("", "class=sensitive")
    ]
    call = 'slurm_job_modify(job{partition = "gpu,p5"}, %s, {}, 0)'
    answers = accepted_by_lua(tmp_path, environment, jobs, call)
    assert answers == [accepted_by_plan(environment, replace(job, partition="gpu,p5")) for job in jobs]
    assert answers == [False, False, True, False]


def burst_policy(environment: Environment) -> BurstPolicy:
    return scenario_of(environment).policy


@pytest.mark.parametrize("title", ESTATES)
def test_the_burst_controller_launches_where_the_plan_permits_the_data(title: str) -> None:
    environment = estate(ESTATES[title])
    policy = burst_policy(environment)
    answers = set()
    for job in generated_jobs(seed=1):
        for region in REGIONS:
            by_plan = not list(residency_refusals(environment, job, "aws", region))
            by_controller = reject_if_restricted(policy, job.account, job.wckey, region) is None
            # Operators' own tests carry no data: only the controller's pools limit their regions.
            assert by_plan == by_controller, (job, region)
            answers.add(by_plan)
    assert answers == {True, False}


def scp_allows(environment: Environment, region: str, data_class: str, instance: str) -> bool:
    """Return the answer of IAM to a launch: FullAWSAccess beside the document, and an identity that may do anything."""
    full = {"Sid": "FullAWSAccess", "Effect": "Allow", "Action": "*", "Resource": "*"}
    denials = json.loads(service_control_policy(environment))["Statement"]
    tags = {f"aws:RequestTag/{DATA_CLASS}": data_class} if data_class else {}
    request = Request(
        "arn:aws:iam::111111111111:role/burst",
        "ec2:RunInstances",
        f"arn:aws:ec2:{region}:111111111111:instance/*",
        {"aws:RequestedRegion": region, "ec2:InstanceType": instance, **tags},
    )
    level = Document("organisation", (full, *denials))
    return evaluate(request, Policies(identity=(Document("identity", (full,)),), organization=(level,))).allowed


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_service_control_policy_permits_the_launches_that_the_plan_permits(account: str) -> None:
    environment = estate(CLASSES)
    policy = burst_policy(environment)
    is_known = account in policy.accounts
    for region in REGIONS[1:]:
        job = PlacementJob(account, 1, 1.0)
        is_built = region in ("us-east-1", "us-east-2")
        by_plan = is_built and not list(residency_refusals(environment, job, "aws", region))
        by_scp = scp_allows(environment, region, data_class_of(policy, account), planned_types(environment)[0])
        assert by_scp >= by_plan, "it denies no launch that the plan permits"
        # A launch for an unknown account has no tag: the controller and Slurm refuse it, the SCP cannot.
        assert by_scp == by_plan or not is_known, (account, region)
        assert not scp_allows(environment, region, data_class_of(policy, account), "p4d.24xlarge")


GENERATED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def permits(environment: Environment, account: str, location: str) -> bool:
    """Return whether the one policy permits data of an account at a location."""
    return location in class_policies(environment)[environment.scheduler.accounts[account].data_class].locations


@GENERATED
@given(generated_estates())
def test_every_check_of_a_job_has_the_policy_of_its_class(
    tmp_path_factory: pytest.TempPathFactory, environment: Environment
) -> None:
    folder, policy = tmp_path_factory.mktemp("generated"), burst_policy(environment)
    forms, accounts = compiled_forms(environment), environment.scheduler.accounts
    for account in accounts:
        job = PlacementJob(account, 1, 1.0)
        for region in ("us-east-1", "us-east-2"):
            permitted = permits(environment, account, region)
            assert permitted == (not list(residency_refusals(environment, job, "aws", region))), (account, region)
            assert permitted == (reject_if_restricted(policy, account, "", region) is None), (account, region)
            tag = accounts[account].data_class
            assert permitted == scp_allows(environment, region, tag, planned_types(environment)[0]), (account, region)
        assert permits(environment, account, ONPREM) == (not list(residency_refusals(environment, job, "onprem", "")))
    pairs = [(account, form) for account in accounts for form in forms.partitions]
    jobs = [PlacementJob(account, 1, 1.0, partition=form.name) for account, form in pairs]
    by_lua = accepted_by_lua(folder, environment, jobs, "slurm_job_submit(%s, {}, 20001)")
    assert forms.submit is not None
    for (account, form), accepted in zip(pairs, by_lua, strict=True):
        locations = [ONPREM if site == "onprem" else environment.region for site in form.sites]
        permitted = all(permits(environment, account, location) for location in locations)
        by_tables = forms.submit.admits(account, form.name)
        assert permitted == form.admits(account) == accepted == by_tables, (account, form.name)


@GENERATED
@given(generated_estates())
def test_every_access_to_data_has_the_policy_of_its_class(environment: Environment) -> None:
    forms, policies = compiled_forms(environment), class_policies(environment)
    in_aws = {name for name, policy in policies.items() if policy.regions}
    assert {form.data_class for form in forms.buckets.values()} == in_aws
    assert {name.removeprefix("job-") for name in forms.roles if name.startswith("job-")} == in_aws
    for name in in_aws:
        role = forms.roles[f"job-{name}"]
        for form in forms.buckets.values():
            # Each of the two checks decides alone: IAM for objects, and the key.
            for barrier in (*reads(role, form), *writes(role, form)):
                assert barrier.open == (form.data_class == name), (role.name, form.name, barrier)
        has_certificates = environment.aws.iam.anywhere is not None
        trusted = trusts_host(role, "dgx01", anchor_arn(environment)).allowed
        assert trusted == (has_certificates and ONPREM in policies[name].locations), name
        assert not trusts_host(role, "ctl01", anchor_arn(environment)).allowed
    for role_name in ("node", "launch", "terminate", "read", "mover", "hub"):
        role = forms.roles[role_name]
        for form in forms.buckets.values():
            is_moved = role_name in ("mover", "hub") and ONPREM in policies[form.data_class].locations
            assert [barrier.open for barrier in reads(role, form)] == [is_moved] * 2, (role_name, form.name)
    _tracked(environment, forms)


def _tracked(environment: Environment, forms: CompiledForms) -> None:
    """Check MLflow's server of each account, and the exports of homes."""
    policies, servers = class_policies(environment), {server.uri: server for server in forms.servers}
    for account, settings_of_account in environment.scheduler.accounts.items():
        policy = policies[settings_of_account.data_class]
        server = servers.get(forms.tracking.get(account, ""))
        assert (server is not None) == (ONPREM in policy.locations), account
        if server is not None:
            assert server.data_class == policy.name
            assert server.stores_in == (policy.name if policy.regions else None)
    exported = {
        region
        for region, networks in forms.networks.items()
        if any(network.overlaps(other) for network in networks for other in forms.exports or ())
    }
    assert exported == (set(forms.networks) if environment.storage.home.on_cloud_nodes else set())


@GENERATED
@given(generated_estates())
def test_the_proof_finds_a_path_only_where_homes_are_mounted(environment: Environment) -> None:
    """Without homes on cloud nodes, nothing is open. With them, the proof names each class that may not be at both ends."""
    proof = prove_forms(compiled_forms(environment))
    open_classes = {path.data_class for path in proof.paths}
    locations = {ONPREM, "us-east-1", "us-east-2"}
    split = {name for name, policy in proof.policies.items() if set(policy.locations) != locations}
    assert open_classes == (split if environment.storage.home.on_cloud_nodes else set())
