"""Program of an environment, as `pulumi up` would run it."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from landbridge import yaml_text
from landbridge.realise.project import project_root


def program_of(environment_file: Path) -> tuple[Callable[[], object], str, dict[str, Any]]:
    """Return the program that `pulumi up` would run for an environment file, the stack's name and configuration."""
    entry = project_root(environment_file) / "stacks"
    stack = environment_file.name.removeprefix("Pulumi.").removesuffix(".yaml")
    config = yaml_text.load(environment_file.read_text())["config"]
    return (lambda: runpy.run_path(str(entry), run_name="__main__")), stack, dict(config)
