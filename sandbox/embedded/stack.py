"""Build and remove the environment's AWS half in the emulated AWS, with the Pulumi engine where there is one."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from landbridge.environment import Environment
from landbridge.paths import outputs_file, state_dir
from landbridge.plan.outputs import StackOutputs
from sandbox.cloud.process import Cloud
from sandbox.demo.report import DemoError
from sandbox.demo.work import command, program
from sandbox.engine.environment import sandbox_variables
from sandbox.engine.find import Engine, find_engine

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Built:
    """What `up` gave: outputs, and how many resources of which kind."""

    outputs: StackOutputs
    resources: Mapping[str, int]
    changes: Mapping[str, int]


@dataclass(frozen=True)
class Stack:
    """One environment's stack; `engine` is None where there is no way to one, and then the graph is recorded."""

    environment: str
    project: Path
    cloud: Cloud
    engine: Engine | None

    @classmethod
    def of(cls, path: Path, environment: Environment, project: Path, cloud: Cloud) -> "Stack":
        """The stack of a copy of the project, in `project`, whose AWS is `cloud`: the checkout stays as it is, and a
        lab with the same environment may run beside it.
        """
        found = find_engine()
        _copy(path, environment, project, cloud.endpoint)
        return cls(environment.name, project, cloud, found if isinstance(found, Engine) else None)

    def up(self, note: Callable[[str], None]) -> Built:
        """Build it; DemoError with the last lines when it fails."""
        result = self._landbridge("up", note)
        outputs = StackOutputs.model_validate_json(outputs_file(self.environment).read_text())
        return Built(outputs, result.get("resources", {}), result.get("changes", {}))

    def destroy(self, note: Callable[[str], None]) -> Mapping[str, int]:
        """Remove it; returns the changes."""
        return dict(self._landbridge("destroy", note).get("changes", {}))

    def _landbridge(self, verb: str, note: Callable[[str], None]) -> dict[str, dict[str, int]]:
        words = [program("landbridge"), verb, "-s", self.environment, "--yes", "--format", "json"]
        variables = {**os.environ, **self.cloud.environment(), **sandbox_variables(self.environment, self.engine)}
        said = command(
            words,
            env=variables,
            cwd=self.project,
            log=state_dir(self.environment) / "logs" / f"{verb}.log",
            timeout=600,
        )
        return dict(json.loads(said[said.index("{") :]))


def _copy(path: Path, environment: Environment, project: Path, endpoint: str) -> None:
    own = environment.aws.endpoints.operator
    if own is None:
        raise DemoError(f"{path.name} names no aws.endpoints: its AWS is the real one", "use -s sandbox")
    stacks = project / path.parent.name
    stacks.mkdir(parents=True)
    shutil.copy(path.parent.parent / "Pulumi.yaml", project)
    shutil.copy(path.parent / "__main__.py", stacks)
    (stacks / path.name).write_text(path.read_text().replace(str(own), endpoint))
