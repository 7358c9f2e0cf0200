"""Stack of the environment in the emulated AWS, created and destroyed with the Pulumi engine if there is one."""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from landbridge.environment import Environment, load_environment
from landbridge.plan.outputs import StackOutputs
from landbridge.realise import pulumi
from landbridge.realise.steps import Event, Message, Step
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.demo.report import DemoError
from sandbox.pulumi_provider.aws import ProviderError
from sandbox.pulumi_provider.engine.environment import sandbox_variables
from sandbox.pulumi_provider.engine.find import Engine, find_engine
from sandbox.pulumi_provider.recorder import Applied, apply

Note = Callable[[str], None]


@dataclass(frozen=True)
class BuiltStack:
    """Result of `up`: outputs, and the number of resources per type."""

    outputs: StackOutputs
    resources: Mapping[str, int]


class EmbeddedStack:
    """Stack of one environment, from a copy of the project with the AWS endpoint of `cloud`."""

    def __init__(self, file: Path, environment: Environment, project: Path, cloud: EmulatorProcess) -> None:
        """Copy the project to `project`: the checkout stays unchanged, also for a lab of the same environment."""
        self.cloud = cloud
        engine = find_engine()
        #: None if no engine is available: the same graph is then applied without one.
        self.engine = engine if isinstance(engine, Engine) else None
        self.file = _copy(file, environment, project, cloud.endpoint)
        loaded = load_environment(self.file)
        if loaded.environment is None:
            raise DemoError(f"{self.file} cannot be loaded: {'; '.join(map(str, loaded.findings))}")
        self.environment = loaded.environment
        self._applied: Applied | None = None

    def up(self, note: Note) -> BuiltStack:
        """Create the stack. Raise DemoError with Pulumi's message if that fails."""
        with self._variables():
            if self.engine is None:
                return self._apply()
            result = _run_with_notes(lambda on_event: pulumi.up(self.environment, self.file, on_event), note)
            outputs = pulumi.outputs(self.environment, self.file)
        if outputs is None:
            raise DemoError("the stack has no outputs")
        return BuiltStack(outputs, Counter(step.type for step in result.steps if step.operation == "create"))

    def destroy(self, note: Note) -> int:
        """Destroy the stack; return the number of resources."""
        with self._variables():
            if self._applied is not None:
                return self._applied.destroy()
            return _run_with_notes(lambda on_event: pulumi.destroy(self.environment, self.file, on_event), note).changed

    def _apply(self) -> BuiltStack:
        try:
            self._applied = apply(self.file, self.cloud.endpoint, self.environment.region)
        except ProviderError as error:
            raise DemoError(f"the emulated AWS refuses the graph: {error}") from None
        return BuiltStack(self._applied.outputs, Counter(token for token, _, _ in self._applied.backing.created))

    @contextmanager
    def _variables(self) -> Iterator[None]:
        """Set the process's environment variables with which Landbridge finds Pulumi and AWS, during the block."""
        before = dict(os.environ)
        os.environ.update({**self.cloud.environment(), **sandbox_variables(self.environment.name, self.engine)})
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _run_with_notes(
    run: Callable[[Callable[[Event], None]], pulumi.OperationResult], note: Note
) -> pulumi.OperationResult:
    def print_event(event: Event) -> None:
        match event:
            case Message():
                note(f"{event.severity}: {event.resource} {event.text}")
            case Step(phase="failed"):
                note(f"failed: {event.operation} {event.type} {event.name}")

    try:
        return run(print_event)
    except pulumi.PulumiFailed as error:
        raise DemoError(f"pulumi {error.operation} failed: {error}") from None


def _copy(file: Path, environment: Environment, project: Path, endpoint: str) -> Path:
    operator_endpoint = environment.aws.endpoints.operator
    if operator_endpoint is None:
        raise DemoError(f"{file.name} names no aws.endpoints: its AWS is the real one", "use -s sandbox")
    stacks = project / file.parent.name
    stacks.mkdir(parents=True)
    shutil.copy(file.parent.parent / "Pulumi.yaml", project)
    shutil.copy(file.parent / "__main__.py", stacks)
    shutil.copytree(file.parent / "layers", stacks / "layers")
    copy = stacks / file.name
    copy.write_text(file.read_text().replace(str(operator_endpoint), endpoint))
    return copy
