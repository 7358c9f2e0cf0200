"""Request of a SageMaker training job: CreateTrainingJob from a batch job, the environment and the stack's outputs. Pure.

The script is in the container's arguments, in base64: a job needs no object before it starts. Its runs are recorded in the folder of
checkpoints, which SageMaker copies to S3: the request has neither a password of MLflow nor a way to the site.

Source (2026-11-26): Amazon SageMaker API Reference, CreateTrainingJob; Amazon SageMaker Developer Guide, "Use Managed Spot
Training" and "Environment variables of containers".
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from landbridge import tags as keys
from landbridge.catalog.models.training_jobs import training_facts
from landbridge.environment import Environment
from landbridge.findings import Finding
from landbridge.plan.args import tags
from landbridge.plan.aws.sagemaker import PREFIX, job_classes
from landbridge.plan.outputs import BucketOutput, SageMakerClassOutput, StackOutputs
from landbridge.plan.placement.job import PlacementJob
from landbridge.plan.placement.residency import residency_refusals
from landbridge.plan.training.batch_job import RULE, BatchJob
from landbridge.plan.training.instances import TrainingInstance, training_instance
from landbridge.staging.statement import stated_data

#: Longest name of a training job, and the digits of the hash in it.
LONGEST_NAME, DIGITS = 63, 12
#: Program that writes the script of the arguments to a file and runs it.
ENTRYPOINT = (
    "/bin/sh",
    "-c",
    'printf %s "$@" | base64 -d > /tmp/landbridge-job && chmod 700 /tmp/landbridge-job && exec /tmp/landbridge-job',
    "landbridge-job",
)
_IMAGE = re.compile(
    r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/[a-z0-9][a-z0-9._/-]*@sha256:[0-9a-f]{64}"
)
_CHANNEL = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """Options of a submission that the job file does not have.

    `key`: a second submission with the same key is the same job. `wait_seconds`: with `spot`, for capacity and run together.
    `channels`: prefixes in the bucket of the class by channel.
    """

    user: str
    key: str = "1"
    instance_type: str | None = None
    spot: bool = False
    wait_seconds: int | None = None
    channels: Mapping[str, str] = field(default_factory=dict)
    volume_gb: int = 50


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """Training job: the parameters of CreateTrainingJob, its instance, and what the ledger needs."""

    name: str
    account: str
    user: str
    data_class: str
    instance: TrainingInstance
    nodes: int
    seconds: int
    spot: bool
    parameters: Mapping[str, Any]


def training_name(cluster: str, job: BatchJob, options: TrainingOptions) -> str:
    """Return a job's name: equal for an equal job file, user and key."""
    digest = hashlib.sha256("\0".join((cluster, options.user, options.key, job.script)).encode()).hexdigest()[:DIGITS]
    words = re.sub(r"[^A-Za-z0-9]+", "-", job.name)[: LONGEST_NAME - len(cluster) - DIGITS - 2].strip("-") or "job"
    return f"{cluster}-{words}-{digest}"


def training_request(
    environment: Environment, outputs: StackOutputs | None, job: BatchJob, options: TrainingOptions
) -> TrainingRequest | list[Finding]:
    """Return the request of a job, or all reasons against it."""
    findings = [*_residency(environment, job, options), *_content(environment, job, options)]
    chosen = training_instance(environment, job, options.instance_type, spot=options.spot)
    if isinstance(chosen, Finding):
        findings.append(chosen)
    account = environment.scheduler.accounts.get(job.account)
    data_class = account.data_class if account is not None else ""
    place = _place(outputs, data_class)
    if place is None and not findings:
        message = f"the stack outputs have no role of SageMaker's jobs for class {data_class}"
        findings.append(
            Finding("training-outputs", message, fix="run `landbridge up`, or give its outputs with --outputs")
        )
    if findings or isinstance(chosen, Finding) or place is None:
        return findings
    return TrainingRequest(
        name=training_name(environment.name, job, options),
        account=job.account,
        user=options.user,
        data_class=data_class,
        instance=chosen,
        nodes=job.nodes,
        seconds=job.seconds,
        spot=options.spot,
        parameters=_parameters(environment, place, job, options, chosen),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Role, network and bucket of the jobs of a data class."""

    data_class: str
    jobs: SageMakerClassOutput
    subnets: tuple[str, ...]
    bucket: BucketOutput


def _place(outputs: StackOutputs | None, data_class: str) -> _Place | None:
    if outputs is None or outputs.sagemaker is None:
        return None
    jobs, bucket = outputs.sagemaker.classes.get(data_class), outputs.data_hub.buckets.get(data_class)
    return _Place(data_class, jobs, outputs.sagemaker.subnet_ids, bucket) if jobs and bucket else None


def _residency(environment: Environment, job: BatchJob, options: TrainingOptions) -> Iterator[Finding]:
    """Yield the reasons of the policy against AWS, and against the account."""
    placed = PlacementJob(
        account=job.account, gpus=job.gpus * job.nodes, hours=job.seconds / 3600, name=job.name, wckey=job.wckey
    )
    reasons = [refusal.text for refusal in residency_refusals(environment, placed, "aws", "")]
    yield from (Finding("training-class", reason, fix="run it with sbatch at the site") for reason in reasons)
    account = environment.scheduler.accounts.get(job.account)
    if environment.mlops.sagemaker is None:
        fix = "add mlops.sagemaker to the environment, and run `landbridge up`"
        yield Finding("training-class", "the environment has no SageMaker", fix=fix)
    elif account is None:
        if not reasons:
            yield Finding("training-class", f"account {job.account} has no data class, so no role and no bucket")
    elif account.data_class not in job_classes(environment) and not reasons:
        message = f"jobs of SageMaker may not use data of class {account.data_class}"
        yield Finding("training-class", message, fix="add it to mlops.sagemaker.data_classes")
    if account is not None and account.users and options.user not in account.users:
        message = f"{options.user} is not a user of account {job.account}"
        yield Finding("training-class", message, fix=f"its users: {', '.join(account.users)}")


def _content(environment: Environment, job: BatchJob, options: TrainingOptions) -> Iterator[Finding]:
    """Yield the faults of image, times, data and size."""
    facts, image = training_facts(), _IMAGE.fullmatch(job.image)
    if image is None or image[2] != environment.region:
        shown = job.image or "none"
        message = f"the container image ({shown}) is not in the account's ECR in {environment.region} by its digest"
        fix = f"--container-image=ACCOUNT.dkr.ecr.{environment.region}.amazonaws.com/NAME@sha256:DIGEST"
        yield Finding("training-image", message, fix=fix)
    if job.seconds > facts.longest_seconds:
        message = f"a training job runs for at most {facts.longest_seconds // 86_400} days"
        yield Finding(RULE, message, fix="save checkpoints, and submit parts")
    if options.spot and options.wait_seconds is not None and options.wait_seconds < job.seconds:
        message = "the time of a spot job, its wait for capacity included, is below its time limit"
        yield Finding("training-spot", message, fix=f"--max-wait of {job.seconds} seconds or more")
    size = facts.arguments * facts.argument_characters * 3 // 4
    if len(job.script.encode()) > size:
        message = f"the job file is larger than {size:,} bytes, which the container's arguments hold"
        yield Finding(RULE, message, fix="put the program into the image")
    try:
        datasets = stated_data(job.comment)
    except ValueError as error:
        yield Finding("training-data", str(error))
        datasets = ()
    if datasets:
        message = f"{', '.join(datasets)}: versions of datasets are blocks in S3, which SageMaker does not unpack"
        yield Finding("training-data", message, fix="copy its files below a prefix, and give --channel NAME=PREFIX")
    for name, prefix in options.channels.items():
        if not _CHANNEL.fullmatch(name) or prefix.startswith(("/", "s3:")) or not prefix:
            message = f"{name}={prefix} is not NAME=PREFIX, with a prefix in the bucket of the class"
            yield Finding("training-data", message)


def _parameters(
    environment: Environment, place: _Place, job: BatchJob, options: TrainingOptions, instance: TrainingInstance
) -> dict[str, Any]:
    name = training_name(environment.name, job, options)
    root = f"s3://{place.bucket.name}/{PREFIX}"
    stopping = {"MaxRuntimeInSeconds": job.seconds}
    if options.spot:
        stopping["MaxWaitTimeInSeconds"] = options.wait_seconds or min(
            2 * job.seconds, training_facts().longest_seconds
        )
    resources: dict[str, Any] = {
        "InstanceType": instance.name,
        "InstanceCount": job.nodes,
        "VolumeSizeInGB": options.volume_gb,
    }
    if not instance.has_disk:
        resources["VolumeKmsKeyId"] = place.bucket.key_arn
    parameters: dict[str, Any] = {
        "TrainingJobName": name,
        "RoleArn": place.jobs.role_arn,
        "AlgorithmSpecification": {
            "TrainingImage": job.image,
            "TrainingInputMode": "FastFile" if options.channels else "File",
            "ContainerEntrypoint": list(ENTRYPOINT),
            "ContainerArguments": list(_arguments(job.script)),
        },
        "OutputDataConfig": {"S3OutputPath": f"{root}/output/{job.account}", "KmsKeyId": place.bucket.key_arn},
        "ResourceConfig": resources,
        "VpcConfig": {"Subnets": list(place.subnets), "SecurityGroupIds": [place.jobs.security_group_id]},
        "StoppingCondition": stopping,
        "EnableInterContainerTrafficEncryption": True,
        "EnableManagedSpotTraining": options.spot,
        "CheckpointConfig": {
            "S3Uri": f"{root}/checkpoints/{job.account}/{name}",
            "LocalPath": training_facts().checkpoint_folder,
        },
        "Environment": _variables(place, job, name, root),
        "Tags": [{"Key": key, "Value": value} for key, value in _tags(environment, place, job, options, name).items()],
    }
    if options.channels:
        parameters["InputDataConfig"] = [
            _channel(channel, f"s3://{place.bucket.name}/{prefix}")
            for channel, prefix in sorted(options.channels.items())
        ]
    return parameters


def _variables(place: _Place, job: BatchJob, name: str, root: str) -> dict[str, str]:
    """Return the variables of the containers; none is a secret."""
    return {
        "LANDBRIDGE_JOB": name,
        "LANDBRIDGE_ACCOUNT": job.account,
        "LANDBRIDGE_DATA_CLASS": place.data_class,
        "LANDBRIDGE_CHECKPOINT_URL": f"{root}/states/{job.account}/{name}",
        "MLFLOW_TRACKING_URI": f"sqlite:///{training_facts().checkpoint_folder}/mlflow.db",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_EXPERIMENT_NAME": job.name,
    }


def _tags(
    environment: Environment, place: _Place, job: BatchJob, options: TrainingOptions, name: str
) -> dict[str, str]:
    return {
        **tags(environment, data_class=place.data_class),
        keys.ACCOUNT: job.account,
        keys.USER: options.user,
        keys.JOB: name,
    }


def _channel(name: str, uri: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}}


def _arguments(script: str) -> Iterator[str]:
    text, size = base64.b64encode(script.encode()).decode(), training_facts().argument_characters
    for start in range(0, len(text), size):
        yield text[start : start + size]
