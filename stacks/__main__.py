"""Pulumi program of one environment: the AWS part of `Pulumi.ENV.yaml`, or one layer of it.

With `stacks: three` in the environment, each layer is a separate stack (ENV-foundation, ENV-cluster, ENV-platform); all
three have the environment file as their configuration.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi

from landbridge.environment import Environment, environment_from_config
from landbridge.environment.file.lock import read_lock
from landbridge.environment.stacks import Layer
from landbridge.findings import FindingsError
from landbridge.plan.stacks import HANDOVER, environment_name, stack_called
from layers import (
    ClusterPlan,
    Context,
    Foundation,
    FoundationPlan,
    PlatformPlan,
    cluster,
    foundation,
    platform,
    to_output,
)


def main() -> None:
    """Plan all layers, so that an error is found before a resource is registered; then build them, the lowest first."""
    try:
        stack, raw = pulumi.get_stack(), pulumi.Config("landbridge").get_object("environment")
        if raw is None:
            raise pulumi.RunError(f"stack {stack} has no environment yet: landbridge new {stack} --from hybrid")
        region = pulumi.Config("aws").require("region")
        environment = environment_from_config(environment_name(stack, raw), region, raw)
        build(environment, locked_images(environment), stack_called(environment, stack).layers)
    except FindingsError as error:
        raise pulumi.RunError(str(error)) from None


def locked_images(environment: Environment) -> dict[str, str]:
    """Return image ids by name from the image lock next to the stack's file: an image changes only with the lock."""
    root = Path(pulumi.get_root_directory() or "")
    # Without a Pulumi project (a recorded graph), the folder of this program is the project.
    project = root if root.is_absolute() else Path(__file__).resolve().parents[1]
    folder = project / "stacks" if (project / "stacks").is_dir() else project
    lock, findings = read_lock(folder / f"images.{environment.name}.lock", environment.region)
    if findings:
        raise FindingsError(findings)
    return {} if lock is None else lock.amis


def build(environment: Environment, images: Mapping[str, str], layers: tuple[Layer, ...]) -> None:
    """Build these layers of an environment with the given image ids, and export their StackOutputs."""
    plans = FoundationPlan.of(environment), ClusterPlan.of(environment, images), PlatformPlan.of(environment, images)
    context = Context.of(environment)
    exports: dict[str, Any] = {"cluster": environment.name, "region": environment.region}
    ends_nodes = list[pulumi.Resource]()
    if "foundation" in layers:
        foundation_outputs, layer_exports, roles = foundation.build(plans[0], context)
        ends_nodes.append(roles)
        exports |= layer_exports if len(layers) > 1 else {**layer_exports, HANDOVER: to_output(foundation_outputs)}
    else:
        foundation_outputs = Foundation.from_stack(plans[0], environment)
    if "cluster" in layers:
        _, layer_exports = cluster.build(plans[1], foundation_outputs, context, ends_nodes)
        exports |= layer_exports
    if "platform" in layers:
        exports |= platform.build(plans[2], foundation_outputs, context)
    for key, value in exports.items():
        pulumi.export(key, value)


main()
