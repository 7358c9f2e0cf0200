"""Rules about settings that Landbridge checks and does not create."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, warning
from landbridge.rules.environment_paths import pools
from landbridge.rules.registry import rule

_ACCEPT = "create it yourself, and suppress this with a reason"


@rule
def not_built_yet(environment: Environment) -> Iterator[Finding]:
    """Settings that Landbridge checks and plans, and does not create, are reported.

    Such settings are allowed so that files can describe later extensions.
    Source: docs/decisions/0019-accepted-before-built.md.
    """
    for is_requested, description, path in (*_pools(environment), *_others(environment)):
        if is_requested:
            message = f"{description} is checked and planned, but not created yet"
            yield warning(path, message, fix=_ACCEPT)


def _pools(environment: Environment) -> Iterator[tuple[bool, str, DataPath]]:
    for owner in pools(environment):
        pool = owner.pool
        yield pool.driver != "auto", "installing a driver (the image brings its own)", owner.at("driver")


def _others(environment: Environment) -> Iterator[tuple[bool, str, DataPath]]:
    yield environment.mlops.registry is not None, "a container registry", ("mlops", "registry")
