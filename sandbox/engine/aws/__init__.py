"""The resource types that the stand-in provider has; any other type is refused."""

from collections.abc import Mapping

from sandbox.engine.aws import (
    budgets,
    efs,
    fsx,
    functions,
    groups,
    iam,
    keys,
    link,
    logs,
    policies,
    pool,
    routes,
    s3,
    schedules,
    trails,
    unemulated,
    vpc,
)
from sandbox.engine.aws.base import Bag, Cloud, Kind, Refused

KINDS: Mapping[str, type[Kind]] = {
    kind.token: kind
    for module in (
        vpc,
        routes,
        groups,
        link,
        pool,
        iam,
        s3,
        keys,
        fsx,
        efs,
        logs,
        functions,
        schedules,
        budgets,
        policies,
        trails,
        unemulated,
    )
    for kind in module.KINDS
}

__all__ = ["KINDS", "Bag", "Cloud", "Kind", "Refused"]
