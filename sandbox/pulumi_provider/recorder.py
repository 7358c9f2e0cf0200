"""Apply an environment's graph to the emulated AWS in this process, for machines that cannot have Pulumi's engine.

The same program, the same checks and the same provider code as under the engine; without the engine's state
there is no preview of a change, no refresh and no second `up`, only one application and the deletion of all resources.
"""

import runpy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from landbridge import yaml_text
from landbridge.environment import load_environment
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.stacks import HANDOVER, planned_stacks
from landbridge.realise.project import project_root
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, EmulatedAws, ProviderError
from sandbox.pulumi_provider.aws.invokes import invoke
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.all_checks import all_problems
from sandbox.pulumi_provider.graph import Backing, Graph, record
from sandbox.pulumi_provider.serialization import Bag


@dataclass
class EmulatedBacking:
    """Backing that creates resources in the emulated AWS and records them, to destroy them again."""

    cloud: EmulatedAws
    tell: Callable[[str, str], None]
    made: list[tuple[str, str, Bag]] = field(default_factory=list)

    def create(self, token: str, name: str, inputs: Bag) -> tuple[str, Bag]:
        """Check a resource as the provider does, make it, and return its state."""
        check(token, name, inputs, real=True)
        id_, outputs = RESOURCE_TYPES[token](self.cloud.at(inputs.get("region"))).create(inputs)
        state = {**inputs, **{key: value for key, value in outputs.items() if value is not None}}
        self.made.append((token, id_, state))
        self.tell(token, name)
        return id_, state

    def invoke(self, token: str, arguments: Bag) -> Bag:
        """Answer as the provider does."""
        return invoke(self.cloud, token, arguments)

    def destroy(self) -> int:
        """Remove everything, last made first; return how much there was."""
        count = len(self.made)
        while self.made:
            token, id_, state = self.made.pop()
            RESOURCE_TYPES[token](self.cloud.at(state.get("region"))).delete(id_, state)
        return count


@dataclass(frozen=True)
class Applied:
    """Result of applying an environment: graph, outputs, and the created resources."""

    graph: Graph
    outputs: StackOutputs
    backing: EmulatedBacking

    def destroy(self) -> int:
        """Take it all down again."""
        return self.backing.destroy()


def check(token: str, name: str, inputs: Bag, *, real: bool = False) -> None:
    """Raise ProviderError with every problem of a property bag, each with its path.

    `real` where ids are an AWS's own: made-up ones have neither its length nor its pattern.
    """
    if token not in RESOURCE_TYPES:
        raise ProviderError(f"{name}: the sandbox has no resource type {token}")
    problems = list(all_problems(token, inputs, real=real))
    if problems:
        raise ProviderError("; ".join(f"{name}: {sdk_args.spell(path)}: {reason}" for path, reason in problems))


def program_of(environment_file: Path) -> tuple[Callable[[], object], str, dict[str, Any]]:
    """Return the program that `pulumi up` would run for an environment file, the stack's name, and its configuration."""
    entry = project_root(environment_file) / "stacks"
    stack = environment_file.name.removeprefix("Pulumi.").removesuffix(".yaml")
    config = yaml_text.load(environment_file.read_text())["config"]
    return (lambda: runpy.run_path(str(entry), run_name="__main__")), stack, dict(config)


def record_stacks(environment_file: Path, backing: Backing, *, preview: bool = False) -> dict[str, Graph]:
    """The graph of each of the environment's stacks, by name, from the bottom up: each sees the exports of those below."""
    program, _, config = program_of(environment_file)
    environment = load_environment(environment_file).environment
    if environment is None:
        raise ValueError(f"{environment_file} has errors")
    graphs: dict[str, Graph] = {}
    for planned_stack in planned_stacks(environment):
        known = {name: graph.outputs for name, graph in graphs.items()}
        graphs[planned_stack.name] = record(
            program, stack=planned_stack.name, config=config, backing=backing, preview=preview, stacks=known
        )
    return graphs


def joined(graphs: Iterable[Graph]) -> Graph:
    """Several stacks as one graph, with every output of the environment and without the outputs from stack to stack."""
    whole = Graph()
    for graph in graphs:
        whole.nodes.update(graph.nodes)
        whole.outputs.update({key: value for key, value in graph.outputs.items() if key != HANDOVER})
        whole.secret_outputs |= graph.secret_outputs
    return whole


def apply(
    environment_file: Path, endpoint: str, region: str, tell: Callable[[str, str], None] = lambda token, name: None
) -> Applied:
    """Apply an environment to the emulated AWS; `tell` hears each resource's type and name as it is made."""
    backing = EmulatedBacking(EmulatedAws(endpoint, region), tell)
    try:
        graph = joined(record_stacks(environment_file, backing).values())
    except BaseException:
        backing.destroy()
        raise
    return Applied(graph, StackOutputs.model_validate(graph.outputs), backing)
