"""Environment variables for `pulumi` with the stand-ins, for a shell or a child process."""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from landbridge.paths import cache_dir
from landbridge.realise.backend import backend_variables
from sandbox.pulumi_provider.engine.find import Engine
from sandbox.pulumi_provider.engine.scripts import write_scripts


def plugin_folder() -> Path:
    """Return the folder of the plugins' programs: one per interpreter, because each program contains its path."""
    return cache_dir("engine") / "plugins" / hashlib.sha256(sys.executable.encode()).hexdigest()[:12]


def sandbox_variables(environment: str, engine: Engine | None, path: str | None = None) -> Mapping[str, str]:
    """Return PATH with the plugins first, and the variables for local state without downloads."""
    folder = write_scripts(plugin_folder(), engine)
    home = cache_dir("engine") / "home"
    home.mkdir(parents=True, exist_ok=True)
    before = path if path is not None else os.environ.get("PATH", "")
    return {
        **backend_variables(environment),
        "PULUMI_HOME": str(home),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
        "PATH": os.pathsep.join([str(folder), *(part for part in before.split(os.pathsep) if part != str(folder))]),
    }
