"""CreateTrainingJob of a job file: what it has, and every reason against it."""

import base64
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from landbridge.catalog import instances
from landbridge.catalog.models.training_jobs import training_facts
from landbridge.findings import DataPath
from landbridge.ops.iam import Document, Policies, Request, evaluate
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.sagemaker import Inside, sagemaker_args, starter_policy
from landbridge.plan.training.batch_job import BatchJob, parse_batch_job
from landbridge.plan.training.request import (
    LONGEST_NAME,
    TrainingOptions,
    TrainingRequest,
    training_name,
    training_request,
)
from tests.unit.training_jobs.jobs import IMAGE, outputs, place, script

ALICE = TrainingOptions("alice")
RESTRICTED: dict[DataPath, Any] = {
    ("scheduler", "accounts", "patients"): {"users": ["alice"], "data_class": "restricted"}
}


def job(*lines: str, without: str = "") -> BatchJob:
    parsed = parse_batch_job(script(*lines, without=without))
    assert isinstance(parsed, BatchJob), parsed
    return parsed


def request(batch: BatchJob, options: TrainingOptions = ALICE) -> TrainingRequest:
    built = training_request(place(), outputs(), batch, options)
    assert isinstance(built, TrainingRequest), built
    return built


def refused(batch: BatchJob, options: TrainingOptions = ALICE, **changes: Any) -> dict[str, str]:
    findings = training_request(place(changes.get("changes")), outputs(), batch, options)
    assert isinstance(findings, list), findings
    return {finding.rule: finding.message for finding in findings}


def test_the_request_is_valid_and_has_the_class_of_its_account() -> None:
    built = request(job("#SBATCH --nodes=2"))
    model = botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob")
    parameters = dict(built.parameters)
    assert not ParamValidator().validate(parameters, model.input_shape).has_errors()
    assert parameters["RoleArn"].endswith("role/test-sagemaker-internal")
    assert parameters["VpcConfig"] == {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}
    assert parameters["OutputDataConfig"]["KmsKeyId"].endswith("key/1")
    assert parameters["ResourceConfig"] == {"InstanceType": "ml.g4dn.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 50}
    assert parameters["StoppingCondition"] == {"MaxRuntimeInSeconds": 7200}
    assert parameters["CheckpointConfig"]["S3Uri"] == f"s3://test-internal/sagemaker/checkpoints/vision/{built.name}"
    assert parameters["AlgorithmSpecification"]["TrainingImage"] == IMAGE
    variables = parameters["Environment"]
    assert variables["LANDBRIDGE_CHECKPOINT_URL"] == f"s3://test-internal/sagemaker/states/vision/{built.name}"
    assert variables["MLFLOW_TRACKING_URI"] == "sqlite:////opt/ml/checkpoints/mlflow.db"
    tags = {tag["Key"]: tag["Value"] for tag in parameters["Tags"]}
    expected = {"cluster": "test", "account": "vision", "user": "alice", "data-class": "internal", "job": built.name}
    assert {f"landbridge:{key}": value for key, value in expected.items()}.items() <= tags.items()


def test_the_policy_to_start_jobs_permits_the_request_and_no_other_network() -> None:
    environment, place_of_jobs = place(), ArnContext("test", "aws", "us-east-1", "123456789012")
    args, parameters = sagemaker_args(environment), dict(request(job()).parameters)
    assert args is not None
    inside = Inside(vpc="vpc-1", subnets=("subnet-1",), security_group="sg-1", bucket="arn:aws:s3:::test-internal", key=parameters["OutputDataConfig"]["KmsKeyId"])  # fmt: skip
    text = starter_policy(args, place_of_jobs, inside, parameters["RoleArn"])
    context: dict[str, Any] = {f"aws:RequestTag/{tag['Key']}": tag["Value"] for tag in parameters["Tags"]}
    context |= {
        "sagemaker:InterContainerTrafficEncryption": str(parameters["EnableInterContainerTrafficEncryption"]).lower(),
        "sagemaker:OutputKmsKey": parameters["OutputDataConfig"]["KmsKeyId"],
        "sagemaker:VpcSubnets": parameters["VpcConfig"]["Subnets"],
        "sagemaker:VpcSecurityGroupIds": parameters["VpcConfig"]["SecurityGroupIds"],
    }
    resource = f"arn:aws:sagemaker:us-east-1:123456789012:training-job/{parameters['TrainingJobName']}"

    def decides(**changes: Any) -> bool:
        query = Request(
            "arn:aws:iam::123456789012:role/x", "sagemaker:CreateTrainingJob", resource, {**context, **changes}
        )
        return evaluate(query, Policies((Document.of("start", text),))).allowed

    assert decides() and not decides(**{"sagemaker:VpcSecurityGroupIds": ["sg-2"]})


def test_facts_agree_with_the_service_model_and_the_catalogue_of_instances() -> None:
    model, facts = botocore.session.get_session().get_service_model("sagemaker"), training_facts()
    assert model.shape_for("TrainingContainerArguments").metadata["max"] == facts.arguments
    assert model.shape_for("TrainingContainerArgument").metadata["max"] == facts.argument_characters
    priced = {name for prices in facts.prices.values() for name in prices.usd_hour}
    assert priced <= set(model.shape_for("TrainingInstanceType").enum)
    assert all(instances()[name.removeprefix("ml.")].accelerators for name in priced)


def test_the_arguments_run_the_script_of_the_job_file(tmp_path: Path) -> None:
    text = script().replace("python train.py", 'echo "$0 it\'s" 100% ') + "# " + "x" * 600 + "\n"
    parsed = parse_batch_job(text)
    assert isinstance(parsed, BatchJob)
    specification = request(parsed).parameters["AlgorithmSpecification"]
    assert max(map(len, specification["ContainerArguments"])) == 256
    assert base64.b64decode("".join(specification["ContainerArguments"])).decode() == text
    entrypoint = [
        word.replace("/tmp/landbridge-job", str(tmp_path / "job")) for word in specification["ContainerEntrypoint"]
    ]
    ran = subprocess.run(
        [*entrypoint, *specification["ContainerArguments"]], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{tmp_path}/job it's 100% --steps 10\n"


def test_a_name_is_that_of_file_user_and_key_and_never_too_long() -> None:
    first = training_name("test", job(), ALICE)
    assert first == training_name("test", job(), ALICE) and first.startswith("test-digits-")
    others = [replace(ALICE, user="bob"), replace(ALICE, key="2")]
    names = {
        first,
        *(training_name("test", job(), options) for options in others),
        training_name("test", job("# x"), ALICE),
    }
    assert len(names) == 4
    long = training_name("acme", replace(job(), name="a__b/" * 40), ALICE)
    assert len(long) <= LONGEST_NAME and long.startswith("acme-a-b-a-b") and "--" not in long


def test_a_spot_job_waits_for_capacity() -> None:
    built = request(job(), replace(ALICE, spot=True))
    assert built.parameters["EnableManagedSpotTraining"] is True
    assert built.parameters["StoppingCondition"] == {"MaxRuntimeInSeconds": 7200, "MaxWaitTimeInSeconds": 14_400}
    assert built.instance.quota == "ml.g4dn.xlarge for spot training job usage"
    assert "training-spot" in refused(job(), replace(ALICE, spot=True, wait_seconds=60))


def test_an_instance_type_has_the_gpus_and_a_known_price() -> None:
    assert request(job("#SBATCH --gres=gpu:a10g:4", without="--gpus-per-node")).instance.name == "ml.g5.12xlarge"
    assert "no known price" in refused(job(), replace(ALICE, instance_type="ml.p5e.48xlarge"))["training-price"]
    prices = {("mlops", "sagemaker"): {"usd_hour": {"ml.p5.48xlarge": 60.5}}}
    built = training_request(place(prices), outputs(), job(), replace(ALICE, instance_type="ml.p5.48xlarge"))
    assert isinstance(built, TrainingRequest) and built.instance.usd_hour == 60.5
    eight = job("#SBATCH --gpus-per-node=8", without="=1")
    assert "has 1 GPUs" in refused(eight, replace(ALICE, instance_type="ml.g5.xlarge"))["training-instance"]
    assert "no instance type with 8 h200 GPUs" in refused(replace(eight, gpu="h200"))["training-price"]


def test_restricted_data_is_refused_with_the_reason_of_the_policy() -> None:
    patients = job("#SBATCH --account=patients", without="=vision")
    findings = refused(patients, changes=RESTRICTED)
    assert findings["training-class"] == "data of account patients (restricted) may not be in AWS"
    assert "not one of those that may use AWS" in refused(replace(patients, account="other"))["training-class"]
    labelled = replace(job(), wckey="restricted")
    assert refused(labelled, changes=RESTRICTED)["training-class"] == "data of 'restricted' may not be in AWS"


@pytest.mark.parametrize(
    ("line", "options", "rule", "words"),
    [
        ("--container-image=123456789012.dkr.ecr.us-east-1.amazonaws.com/digits:1", ALICE, "training-image", "by its digest"),
        (f"--container-image={IMAGE.replace('us-east-1', 'eu-west-1')}", ALICE, "training-image", "us-east-1"),
        ("--time=29-0", ALICE, "training-job-file", "28 days"),
        ("--comment=data=digits:1", ALICE, "training-data", "blocks in S3"),
        ("--nodes=1", TrainingOptions("alice", channels={"data": "s3://other/x"}), "training-data", "NAME=PREFIX"),
        ("--nodes=1", TrainingOptions("bob"), "training-class", "bob is not a user of account vision"),
    ],
)  # fmt: skip
def test_what_sagemaker_cannot_do_is_refused(line: str, options: TrainingOptions, rule: str, words: str) -> None:
    assert words in refused(job(f"#SBATCH {line}"), options)[rule]


def test_a_script_that_the_arguments_do_not_hold_is_refused() -> None:
    assert "larger than 19,200 bytes" in refused(replace(job(), script="#" * 19_201))["training-job-file"]


def test_an_environment_without_sagemaker_has_no_place() -> None:
    findings = training_request(place(), None, job(), ALICE)
    assert isinstance(findings, list) and [finding.rule for finding in findings] == ["training-outputs"]
