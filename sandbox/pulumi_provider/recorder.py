"""Recorder: it applies an environment's graph to the emulated AWS in this process, for hosts without Pulumi's engine.

It uses the same program, checks and provider code as with the engine. Without the engine's state
there is no preview of a change, no refresh and no second `up`, only one creation and the deletion of all resources.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from landbridge.environment import load_environment
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.stacks import HANDOVER, planned_stacks
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, EmulatedAws, ProviderError
from sandbox.pulumi_provider.aws.invokes import invoke
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.all_checks import all_problems
from sandbox.pulumi_provider.graph import Backing, Graph, record
from sandbox.pulumi_provider.program import program_of
from sandbox.pulumi_provider.serialization import Bag


@dataclass
class EmulatedBacking:
    """Backing that creates resources in the emulated AWS and records them for their deletion."""

    cloud: EmulatedAws
    tell: Callable[[str, str], None]
    created: list[tuple[str, str, Bag]] = field(default_factory=list)

    def create(self, token: str, name: str, inputs: Bag) -> tuple[str, Bag]:
        """Check a resource as the provider does, create it, and return its id and state."""
        check(token, name, inputs, real=True)
        id_, outputs = RESOURCE_TYPES[token](self.cloud.at(inputs.get("region"))).create(inputs)
        state = {**inputs, **{key: value for key, value in outputs.items() if value is not None}}
        self.created.append((token, id_, state))
        self.tell(token, name)
        return id_, state

    def invoke(self, token: str, arguments: Bag) -> Bag:
        """Return the answer of a provider function."""
        return invoke(self.cloud, token, arguments)

    def destroy(self) -> int:
        """Delete all resources, the last created first; return their number."""
        count = len(self.created)
        while self.created:
            token, id_, state = self.created.pop()
            RESOURCE_TYPES[token](self.cloud.at(state.get("region"))).delete(id_, state)
        return count


@dataclass(frozen=True)
class Applied:
    """Result of applying an environment: graph, outputs, and the created resources."""

    graph: Graph
    outputs: StackOutputs
    backing: EmulatedBacking

    def destroy(self) -> int:
        """Delete all resources; return their number."""
        return self.backing.destroy()


def check(token: str, name: str, inputs: Bag, *, real: bool = False) -> None:
    """Raise ProviderError with every problem of a property bag, each with its path.

    `real`: ids are those of an AWS; invented ids have other lengths and patterns, which are then not checked.
    """
    if token not in RESOURCE_TYPES:
        raise ProviderError(f"{name}: the sandbox has no resource type {token}")
    problems = list(all_problems(token, inputs, real=real))
    if problems:
        raise ProviderError("; ".join(f"{name}: {sdk_args.spell(path)}: {reason}" for path, reason in problems))


def record_stacks(environment_file: Path, backing: Backing, *, preview: bool = False) -> dict[str, Graph]:
    """Return the graph of each stack, by name, in dependency order: a stack reads the exports of earlier stacks."""
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
    """Return the graphs of several stacks as one, without the outputs that only other stacks read."""
    whole = Graph()
    for graph in graphs:
        whole.nodes.update(graph.nodes)
        whole.outputs.update({key: value for key, value in graph.outputs.items() if key != HANDOVER})
        whole.secret_outputs |= graph.secret_outputs
    return whole


def apply(
    environment_file: Path, endpoint: str, region: str, tell: Callable[[str, str], None] = lambda token, name: None
) -> Applied:
    """Apply an environment to the emulated AWS; `tell` is called with type and name of each created resource."""
    backing = EmulatedBacking(EmulatedAws(endpoint, region), tell)
    try:
        graph = joined(record_stacks(environment_file, backing).values())
    except BaseException:
        backing.destroy()
        raise
    return Applied(graph, StackOutputs.model_validate(graph.outputs), backing)
