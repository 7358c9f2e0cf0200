"""Which AWS services the nodes must reach, and through which VPC endpoints: enough that a network without NAT works.

Which services a feature takes is a fact (landbridge/catalog/endpoints.yaml); which features are in use follows from the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from landbridge.catalog.aws.endpoints import endpoints_of
from landbridge.environment import Environment

Mode = Literal["derived", "gateway"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A VPC endpoint: `service` as in `com.amazonaws.<region>.<service>`, and what in this environment needs it."""

    service: str
    kind: Literal["gateway", "interface"]
    why: str


def features(environment: Environment) -> Mapping[str, str]:
    """The features in use, in words of the catalogue, and what each is used for here."""
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
    kinds = {share.kind: path[-1] for path, share in reversed(environment.storage.in_aws().items())}
    for kind, feature in (("fsx_lustre", "fsx"), ("fsx_openzfs", "fsx"), ("efs", "efs")):
        if kind in kinds:
            reasons.setdefault(feature, f"the file system {kinds[kind]}")
    built = next((name for name, source in environment.aws.images.items() if source.build is not None), None)
    if built is not None:
        reasons["image_builder"] = f"builds of the image {built}"
    if environment.aws.kubernetes is not None:
        reasons |= {
            "eks": "nodes that join the Kubernetes cluster",
            "ecr": "the cluster's own images",
            "load_balancing": "load balancers made from the cluster",
        }
    if environment.mlops.sagemaker is not None:
        jobs = "training jobs of SageMaker"
        reasons |= {"sagemaker": f"{jobs} and the model registry"}
        reasons |= {feature: jobs for feature in ("ecr", "kms", "logs", "metrics", "sts") if feature not in reasons}
    return reasons


def needed(environment: Environment) -> tuple[Endpoint, ...]:
    """Every endpoint that the features in use take where there is no other way to AWS, gateways first."""
    used = features(environment)
    return tuple(Endpoint(fact.service, fact.kind, used.get(fact.feature, fact.why)) for fact in endpoints_of(used))


def mode(environment: Environment) -> Mode:
    """Return whether interface endpoints are made: as configured, else in a network of Landbridge's own that has no
    NAT.

    An AWS behind an address of its own (`aws.endpoints`) is reached there, so that it needs none.
    """
    aws = environment.aws
    if any(address is not None for address in (aws.endpoints.operator, aws.endpoints.onprem, aws.endpoints.cloud)):
        return "gateway"
    return aws.vpc_endpoints or ("derived" if aws.nat == "none" and aws.vpc is None else "gateway")


def endpoint_services(environment: Environment) -> tuple[Endpoint, ...]:
    """The endpoints that this environment gets, gateways first; a VPC that is there has its own, unless some are asked for."""
    if environment.aws.vpc is not None and environment.aws.vpc_endpoints is None:
        return ()
    derived = mode(environment) == "derived"
    return tuple(endpoint for endpoint in needed(environment) if derived or endpoint.kind == "gateway")


def unreachable(environment: Environment) -> tuple[Endpoint, ...]:
    """Return the services that nodes need and cannot reach: in a closed network of Landbridge's own without their
    endpoints.
    """
    aws = environment.aws
    if aws.nat != "none" or aws.vpc is not None or aws.vpc_endpoints != "gateway":
        return ()
    got = endpoint_services(environment)
    return tuple(endpoint for endpoint in needed(environment) if endpoint not in got)
