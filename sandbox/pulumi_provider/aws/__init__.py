"""The resource types that the stand-in provider has; any other type is refused."""

from collections.abc import Mapping

from sandbox.pulumi_provider.aws import (
    activations,
    anywhere,
    budgets,
    costs,
    databases,
    efs,
    fsx,
    functions,
    groups,
    iam,
    image_builder,
    kept,
    keys,
    lines,
    link,
    logs,
    machines,
    names,
    peering,
    policies,
    pool,
    resolver,
    routes,
    s3,
    s3_objects,
    sagemaker,
    schedules,
    trails,
    transit,
    volumes,
    vpc,
)
from sandbox.pulumi_provider.aws.base import Bag, Cloud, Kind, Refused

KINDS: Mapping[str, type[Kind]] = {
    kind.token: kind
    for module in (
        vpc,
        routes,
        groups,
        link,
        transit,
        peering,
        lines,
        pool,
        kept,
        machines,
        volumes,
        databases,
        iam,
        s3,
        s3_objects,
        image_builder,
        keys,
        fsx,
        efs,
        logs,
        functions,
        schedules,
        budgets,
        costs,
        anywhere,
        activations,
        policies,
        trails,
        names,
        resolver,
        sagemaker,
    )
    for kind in module.KINDS
}

__all__ = ["KINDS", "Bag", "Cloud", "Kind", "Refused"]
