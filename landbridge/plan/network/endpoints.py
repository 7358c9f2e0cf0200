"""VPC endpoints of the AWS services that nodes need, so that a network without NAT works.

The catalogue has the services of each feature (landbridge/catalog/endpoints.yaml); the environment file decides the
features in use.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from landbridge.catalog.aws.endpoints import endpoints_of
from landbridge.environment import Environment

Mode = Literal["derived", "gateway"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """VPC endpoint: `service` as in `com.amazonaws.<region>.<service>`; `why` is its use in this environment."""

    service: str
    kind: Literal["gateway", "interface"]
    why: str


def features(environment: Environment) -> Mapping[str, str]:
    """Return the features in use by the catalogue's names, each with its use in this environment."""
    reasons = {"s3": "the hub's buckets"}
    if environment.aws.pools or environment.aws.services is not None:
        reasons |= {
            "ec2": "instances that read their tags and renew their lease",
            "sts": "the credentials of the nodes' role",
            "secrets": "Slurm's key, when a node boots",
            "kms": "the keys of secrets, volumes and buckets",
            "ssm": "sessions for operators, without an open port",
            "logs": "what nodes log",
        }
    if environment.aws.services is not None and environment.aws.guardrails.alarms is not False:
        reasons["metrics"] = "the heartbeat of the burst controller"
    file_system_names = {share.kind: path[-1] for path, share in reversed(environment.storage.in_aws().items())}
    for kind, feature in (("fsx_lustre", "fsx"), ("fsx_openzfs", "fsx"), ("efs", "efs")):
        if kind in file_system_names:
            reasons.setdefault(feature, f"the file system {file_system_names[kind]}")
    built_image = next((name for name, source in environment.aws.images.items() if source.build is not None), None)
    if built_image is not None:
        reasons["image_builder"] = f"builds of the image {built_image}"
    if environment.mlops.sagemaker is not None:
        job_reason = "training jobs of SageMaker"
        reasons |= {"sagemaker": f"{job_reason} and the model registry"}
        reasons |= {
            feature: job_reason for feature in ("ecr", "kms", "logs", "metrics", "sts") if feature not in reasons
        }
    return reasons


def needed(environment: Environment) -> tuple[Endpoint, ...]:
    """Return the endpoints that the features in use need in a network without NAT, gateways first."""
    features_in_use = features(environment)
    return tuple(
        Endpoint(fact.service, fact.kind, features_in_use.get(fact.feature, fact.why))
        for fact in endpoints_of(features_in_use)
    )


def mode(environment: Environment) -> Mode:
    """Return `derived` if interface endpoints are created: as configured, else in a network that Landbridge creates
    without NAT.

    With custom AWS endpoints (`aws.endpoints`) no interface endpoints are needed.
    """
    aws = environment.aws
    if any(address is not None for address in (aws.endpoints.operator, aws.endpoints.onprem, aws.endpoints.cloud)):
        return "gateway"
    return aws.vpc_endpoints or ("derived" if aws.nat == "none" and aws.vpc is None else "gateway")


def endpoint_services(environment: Environment) -> tuple[Endpoint, ...]:
    """Return the endpoints that are created, gateways first; none in an existing VPC, which has its own, unless they
    are configured.
    """
    if environment.aws.vpc is not None and environment.aws.vpc_endpoints is None:
        return ()
    is_derived = mode(environment) == "derived"
    return tuple(endpoint for endpoint in needed(environment) if is_derived or endpoint.kind == "gateway")


def unreachable(environment: Environment) -> tuple[Endpoint, ...]:
    """Return the endpoints that nodes need and do not have, in a network that Landbridge creates without NAT."""
    aws = environment.aws
    if aws.nat != "none" or aws.vpc is not None or aws.vpc_endpoints != "gateway":
        return ()
    created = endpoint_services(environment)
    return tuple(endpoint for endpoint in needed(environment) if endpoint not in created)
