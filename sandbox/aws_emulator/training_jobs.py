"""SageMaker training jobs: refusals as in AWS, and jobs that run until they are stopped or a test ends them.

moto validates nothing, and its jobs have ended when they are created. Source (2026-11-26): SageMaker API Reference, CreateTrainingJob,
StopTrainingJob, DescribeTrainingJob and Common Errors; Service Quotas, Amazon SageMaker.
"""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends
from moto.sagemaker.exceptions import ResourceInUseException, SagemakerClientError, ValidationError
from moto.sagemaker.models import FakeTrainingJob
from moto.sagemaker.responses import SageMakerResponse

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.server.request_validation import judge

#: Longest run time for a training job, in seconds, and instances of a type, as Service Quotas has them for an account of use.
LONGEST_SECONDS, INSTANCES = 432_000, 8
#: Families whose instances have NVMe disks of their own.
WITH_DISKS = ("ml.g4dn.", "ml.g5.", "ml.g6.", "ml.g6e.", "ml.p4d.", "ml.p4de.", "ml.p5.")
_RUNNING = ("InProgress", "Stopping")


class LimitExceeded(SagemakerClientError):
    """Refusal by a quota."""

    code = "ResourceLimitExceeded"


def install(emulator: EmulatorState) -> None:
    """Install these operations in moto. Global to the process, as moto's state is."""
    for name, action in (("create", _create), ("describe", _describe), ("stop", _stop)):
        setattr(SageMakerResponse, f"{name}_training_job", _method(emulator, action))
    SageMakerResponse.list_training_jobs = _method(emulator, _list)


def end(
    emulator: EmulatorState, name: str, status: str = "Completed", seconds: int = 0, billable: int | None = None
) -> None:
    """End a job after a training of some seconds. Raise ValueError for a job that does not run."""
    for (_, known), shown in emulator.training.items():
        if known == name and shown["TrainingJobStatus"] in _RUNNING:
            started = shown["CreationTime"]
            shown |= {
                "TrainingJobStatus": status,
                "SecondaryStatus": status,
                "TrainingStartTime": started,
                "TrainingEndTime": started + seconds,
                "TrainingTimeInSeconds": seconds,
                "BillableTimeInSeconds": seconds if billable is None else billable,
            }
            return
    raise ValueError(f"no training job {name} runs")


def _method(emulator: EmulatorState, action: Any) -> Any:
    def method(response: Any) -> Any:
        request = json.loads(response.body or "{}")
        with emulator.lock:
            result = action(emulator, response, request)
            _mirror(emulator, response)
        return EmptyResult() if result is None else ActionResult(result)

    return method


def _create(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    try:
        judge("sagemaker", "CreateTrainingJob", request, "ValidationException")
    except CloudError as error:
        raise ValidationError(error.message) from None
    name, region = request["TrainingJobName"], response.region
    if (region, name) in emulator.training:
        raise ResourceInUseException("Training job names must be unique within an AWS account and region, and a training job with this name already exists")  # fmt: skip
    _check_role(response, request["RoleArn"])
    _check_network(response, request.get("VpcConfig"))
    _check_image(response, request)
    _check_times(emulator, request)
    _check_resources(emulator, region, request)
    if any(str(tag["Key"]).startswith("aws:") for tag in request.get("Tags", ())):
        raise ValidationError("Tag keys must not begin with aws:")
    arn = FakeTrainingJob.arn_formatter(name, response.current_account, region)
    shown = {key: value for key, value in request.items() if key != "Tags"}
    path = request["OutputDataConfig"]["S3OutputPath"].rstrip("/")
    emulator.training[region, name] = {
        **shown,
        "TrainingJobArn": arn,
        "TrainingJobStatus": "InProgress",
        "SecondaryStatus": "Starting",
        "CreationTime": emulator.now().timestamp(),
        "ModelArtifacts": {"S3ModelArtifacts": f"{path}/{name}/output/model.tar.gz"},
        "Tags": request.get("Tags", []),
    }
    return {"TrainingJobArn": arn}


def _describe(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    shown = _found(emulator, response, request)
    answer = {key: value for key, value in shown.items() if key != "Tags"}
    for key in ("CreationTime", "TrainingStartTime", "TrainingEndTime"):
        if key in answer:
            answer[key] = datetime.fromtimestamp(answer[key], UTC)
    if shown["TrainingJobStatus"] == "Stopping":
        # It has stopped when it is described again.
        elapsed = int((emulator.now() - answer["CreationTime"]).total_seconds())
        end(emulator, shown["TrainingJobName"], "Stopped", elapsed)
    return answer


def _list(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Return a page of jobs, the newest first; ten without MaxResults, as in AWS."""
    jobs = [shown for (region, _), shown in emulator.training.items() if region == response.region]
    jobs = [
        shown
        for shown in jobs
        if request.get("NameContains", "") in shown["TrainingJobName"]
        and request.get("StatusEquals", shown["TrainingJobStatus"]) == shown["TrainingJobStatus"]
        and shown["CreationTime"] > float(request.get("CreationTimeAfter", 0))
    ]
    jobs.sort(key=lambda shown: -shown["CreationTime"])
    first, size = int(request.get("NextToken", 0)), int(request.get("MaxResults", 10))
    keys = ("TrainingJobName", "TrainingJobArn", "TrainingJobStatus", "SecondaryStatus")
    page = [
        {**{key: shown[key] for key in keys}, "CreationTime": datetime.fromtimestamp(shown["CreationTime"], UTC)}
        for shown in jobs[first : first + size]
    ]
    more = {"NextToken": str(first + size)} if first + size < len(jobs) else {}
    return {"TrainingJobSummaries": page, **more}


def _stop(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> None:
    shown = _found(emulator, response, request)
    if shown["TrainingJobStatus"] not in _RUNNING:
        status = shown["TrainingJobStatus"]
        raise ValidationError(f"The request was rejected because the training job is in status {status}.")
    shown |= {"TrainingJobStatus": "Stopping", "SecondaryStatus": "Stopping"}


def _found(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    shown = emulator.training.get((response.region, request.get("TrainingJobName", "")))
    if shown is None:
        raise ValidationError("Requested resource not found.")
    return shown


def _mirror(emulator: EmulatorState, response: Any) -> None:
    """Show the jobs to moto, which has the operations for their tags."""
    jobs = response.sagemaker_backend.training_jobs
    for (region, name), shown in emulator.training.items():
        if region == response.region and name not in jobs:
            jobs[name] = _moto_job(shown, name, response)


def _moto_job(shown: dict[str, Any], name: str, response: Any) -> FakeTrainingJob:
    unused = dict.fromkeys(
        (
            *("hyper_parameters", "input_data_config", "checkpoint_config", "debug_hook_config"),
            *("debug_rule_configurations", "tensor_board_output_config", "experiment_config", "vpc_config"),
            *("enable_network_isolation", "enable_inter_container_traffic_encryption", "enable_managed_spot_training"),
        )
    )
    return FakeTrainingJob(
        account_id=response.current_account,
        region_name=response.region,
        training_job_name=name,
        algorithm_specification=dict(shown["AlgorithmSpecification"]),
        role_arn=shown["RoleArn"],
        output_data_config=shown["OutputDataConfig"],
        resource_config=shown["ResourceConfig"],
        stopping_condition=shown["StoppingCondition"],
        tags=shown["Tags"],
        **unused,
    )


def _check_role(response: Any, arn: str) -> None:
    roles = iam_backends[response.current_account]["aws"].roles.values()
    role = next((role for role in roles if role.arn == arn), None)
    trusted = "sagemaker.amazonaws.com" in unquote(str(role.assume_role_policy_document)) if role is not None else False
    if not trusted:
        raise ValidationError(f"Could not assume role {arn}. Please ensure that the role exists and allows principal 'sagemaker.amazonaws.com' to assume the role.")  # fmt: skip


def _check_network(response: Any, network: dict[str, Any] | None) -> None:
    if network is None:
        return
    backend = ec2_backends[response.current_account][response.region]
    subnets = {subnet.id for subnet in backend.describe_subnets()}
    groups = {group.id for group in backend.describe_security_groups()}
    missing = sorted({*network["Subnets"]} - subnets) + sorted({*network["SecurityGroupIds"]} - groups)
    if missing:
        raise ValidationError(f"Invalid VpcConfig: {', '.join(missing)} does not exist")


def _check_image(response: Any, request: dict[str, Any]) -> None:
    image = request.get("AlgorithmSpecification", {}).get("TrainingImage", "")
    if f".dkr.ecr.{response.region}.amazonaws.com" not in image:
        raise ValidationError(f"Invalid training image {image}: it must be in Amazon ECR of {response.region}")


def _check_times(emulator: EmulatorState, request: dict[str, Any]) -> None:
    stopping = request.get("StoppingCondition", {})
    run, wait = stopping.get("MaxRuntimeInSeconds", 86_400), stopping.get("MaxWaitTimeInSeconds")
    if request.get("EnableManagedSpotTraining"):
        if wait is None or wait < run:
            raise ValidationError("Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal to MaxRuntimeInSeconds")  # fmt: skip
    elif wait is not None:
        raise ValidationError("MaxWaitTimeInSeconds above 0 is not supported when EnableManagedSpotTraining is false")
    longest = emulator.quotas.get("Longest run time for a training job", LONGEST_SECONDS)
    if run > longest:
        raise LimitExceeded(f"The account-level service limit 'Longest run time for a training job' is {longest:.0f} Seconds, with current utilization of 0 Seconds and a request delta of {run} Seconds.")  # fmt: skip


def _check_resources(emulator: EmulatorState, region: str, request: dict[str, Any]) -> None:
    resources = request.get("ResourceConfig", {})
    kind, count = resources.get("InstanceType", ""), resources.get("InstanceCount", 0)
    if not kind or count < 1:
        raise ValidationError("ResourceConfig needs an instance type and at least one instance")
    if "VolumeKmsKeyId" in resources and kind.startswith(WITH_DISKS):
        raise ValidationError(f"VolumeKmsKeyId is not supported for instance type {kind}, which has local storage")
    spot = bool(request.get("EnableManagedSpotTraining"))
    quota = f"{kind} for {'spot ' if spot else ''}training job usage"
    used = sum(
        shown["ResourceConfig"]["InstanceCount"]
        for (place, _), shown in emulator.training.items()
        if place == region
        and shown["TrainingJobStatus"] in _RUNNING
        and shown["ResourceConfig"]["InstanceType"] == kind
        and bool(shown.get("EnableManagedSpotTraining")) == spot
    )
    most = emulator.quotas.get(quota, INSTANCES)
    if used + count > most:
        raise LimitExceeded(f"The account-level service limit '{quota}' is {most:.0f} Instances, with current utilization of {used} Instances and a request delta of {count} Instances. Please use AWS Service Quotas to request an increase for this quota.")  # fmt: skip
