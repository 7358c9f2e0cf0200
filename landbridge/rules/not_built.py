"""What the file may say already, and Landbridge does not build."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, warning
from landbridge.rules.environment_paths import pools
from landbridge.rules.registry import rule

_ACCEPT = "suppress it with a reason once somebody has taken that on"


@rule
def not_built_yet(environment: Environment) -> Iterator[Finding]:
    """What the file says is built; what Landbridge checks, plans and prices only, nobody waits for unknowingly.

    Whoever reads a file takes it for what stands. Each of these is accepted so that files can say what is coming.
    Source: docs/decisions/0019-accepted-before-built.md.
    """
    for wanted, what, path in (*_pools(environment), *_aws(environment), *_others(environment)):
        if wanted:
            message = f"{what} is checked and planned, but not built yet"
            yield warning(path, message, fix=_ACCEPT)


def _pools(environment: Environment) -> Iterator[tuple[bool, str, DataPath]]:
    for owner in pools(environment):
        pool = owner.pool
        yield pool.driver != "auto", "installing a driver (the image brings its own)", owner.at("driver")


def _aws(environment: Environment) -> Iterator[tuple[bool, str, DataPath]]:
    aws = environment.aws
    yield aws.kubernetes is not None, "an EKS cluster", ("aws", "kubernetes")


def _others(environment: Environment) -> Iterator[tuple[bool, str, DataPath]]:
    yield environment.mlops.registry is not None, "a container registry", ("mlops", "registry")
